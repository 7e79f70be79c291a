import { describe, expect, test } from 'vitest';
import { expectDocumented, expectSchema } from '../../support/openapi.js';

const LIST = { object: 'list', data: [] };
const STANDING = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '1' };
const HEADERS = { 'x-request-id': 'req_1', ...STANDING, 'x-ratelimit-reset': '9' };
const EVENTS = { 'content-type': 'text/event-stream' };

interface Told {
  readonly body?: object;
  readonly status?: number;
  readonly headers?: object;
}

/** An answer to `GET /v1/models`, correct by default. */
function models({ body = LIST, status = 200, headers = {} }: Told = {}): Response {
  return Response.json(body, { status, headers: { ...HEADERS, ...headers } });
}

function without(name: string): Response {
  const response = models();
  response.headers.delete(name);
  return response;
}

function failure(status: number, code: string, type = 'no_provider'): Response {
  return models({ status, body: { error: { message: 'm', type, code, param: null } } });
}

const chunk = { id: '1', created: 1, model: 'm', object: 'chat.completion.chunk', choices: [] };

function stream(...events: readonly unknown[]): Response {
  const text = events.map((event) => {
    return `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
  });
  return new Response(text.join(''), { headers: { ...HEADERS, ...EVENTS } });
}

describe('expectDocumented takes', () => {
  test('an answer that is right, which can still be read', async () => {
    const response = models();
    await expectDocumented('/v1/models?x=1', 'GET', response);
    expect(await response.json()).toEqual(LIST);
  });

  test('a stream that is right', () =>
    expectDocumented('/v1/chat/completions', 'POST', stream(chunk, '[DONE]')));
});

describe('expectDocumented refuses', () => {
  test.each([
    ['a field too many', models({ body: { ...LIST, more: 1 } })],
    ['a field too few', models({ body: { object: 'list' } })],
    ['an undocumented status', models({ status: 203 })],
    ['an undocumented content type', models({ headers: { 'content-type': 'text/csv' } })],
    ['an undocumented header of ours', models({ headers: { 'x-more': '1' } })],
    ['a header that is no number', models({ headers: { 'x-ratelimit-limit': 'many' } })],
    ['a missing header', without('x-ratelimit-reset')],
    ['a code of another endpoint', failure(400, 'invalid_json', 'invalid_request_error')],
  ])('%s', async (_, response) => {
    await expect(expectDocumented('/v1/models', 'GET', response)).rejects.toThrow();
  });

  test.each([
    ['without an end', stream(chunk, chunk)],
    ['without a chunk', stream('[DONE]')],
    ['with a chunk of another kind', stream({ ...chunk, object: 'x' }, '[DONE]')],
  ])('a stream %s', async (_, response) => {
    await expect(expectDocumented('/v1/chat/completions', 'POST', response)).rejects.toThrow();
  });

  test.each([
    ['/v1/nothing', 'GET', failure(404, 'model_not_found')],
    ['/v1/models', 'DELETE', failure(405, 'method_not_allowed', 'invalid_request_error')],
  ])('an unrouted %s %s with the wrong code or without Allow', async (path, method, response) => {
    await expect(expectDocumented(path, method, response)).rejects.toThrow();
  });
});

test('expectSchema holds a value to a schema by its name', () => {
  const cancellation = { id: 'x', status: 'CANCELED', canceled: true };
  expectSchema('JobCancellation', cancellation);
  expect(() => expectSchema('JobCancellation', { ...cancellation, status: 'GONE' })).toThrow();
});
