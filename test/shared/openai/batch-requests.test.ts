import { ApiError } from '@inference-gateway/shared/errors';
import { parseBatch } from '@inference-gateway/shared/openai/batch-requests';
import { describe, expect, test } from 'vitest';

const LIMITS = { maxImages: 4, maxSpeechCharacters: 20 };
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const HOOK = { url: 'https://example.org/hook', secret: SECRET };

const MESSAGES = [{ role: 'user', content: 'hello' }];
const CHAT = { endpoint: '/v1/chat/completions', body: { model: 'tiny', messages: MESSAGES } };
const chat = (fields: object) => ({ ...CHAT, body: { ...CHAT.body, ...fields } });

const parse = (body: unknown) => parseBatch(body, LIMITS);
const batch = (...requests: unknown[]) => parse({ requests });

function faultOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, param, message } = error;
    return { status, type: error.body.error.type, code, param, message };
  }
  throw new Error('it was accepted');
}

test.each([
  ['/v1/chat/completions', 'chat', { messages: MESSAGES }],
  ['/v1/completions', 'completions', { prompt: 'once' }],
  ['/v1/images/generations', 'images', { prompt: 'a cat' }],
  ['/v1/videos/generations', 'videos', { prompt: 'a cat' }],
  ['/v1/music/generations', 'music', { prompt: 'a song' }],
  ['/v1/audio/speech', 'speech', { input: 'hi' }],
])('%s may be an item', (endpoint, key, fields) => {
  const { items } = batch({ endpoint, body: { model: 'm', ...fields } });
  expect(items).toMatchObject([{ endpoint: key, request: { model: 'm', body: fields } }]);
});

test('items keep their order', () => {
  const { items } = batch(chat({ model: 'a' }), chat({ model: 'b' }), chat({ model: 'c' }));
  expect(items.map(({ request }) => request.model)).toEqual(['a', 'b', 'c']);
});

test('1 to 256 items make a batch', () => {
  expect(batch(CHAT).items).toHaveLength(1);
  expect(batch(...Array.from({ length: 256 }, () => CHAT)).items).toHaveLength(256);
});

describe('a batch is refused', () => {
  test.each([
    ['that is no object', []],
    ['that is null', null],
    ['without requests', {}],
    ['whose requests are null', { requests: null }],
    ['whose requests are no list', { requests: { 0: CHAT } }],
  ])('%s', (_what, body) => {
    expect(faultOf(() => parse(body))).toMatchObject({
      status: 400,
      type: 'invalid_request',
      code: 'missing_requests',
      param: 'requests',
    });
  });

  test('that has no item', () => {
    expect(faultOf(() => batch())).toMatchObject({
      status: 400,
      type: 'invalid_request',
      code: 'empty_batch',
    });
  });

  test('that has more than 256 items', () => {
    const fault = faultOf(() => batch(...Array.from({ length: 257 }, () => 'not looked at')));
    expect(fault).toMatchObject({ status: 400, type: 'too_large', code: 'batch_too_large' });
    expect(fault.message).toContain('257');
  });
});

describe('a malformed item', () => {
  const good = Array.from({ length: 17 }, () => CHAT);

  test.each<[string, unknown, string, string]>([
    ['is no object', 'hello', 'requests[17]', 'it must be an object with endpoint and body'],
    ['has no endpoint', { body: {} }, 'requests[17].endpoint', 'Missing required parameter'],
    ['has no body', { endpoint: CHAT.endpoint }, 'requests[17].body', 'Missing required'],
    ['has a list for a body', { ...CHAT, body: [] }, 'requests[17].body', 'it must be an object'],
    [
      'lacks a field',
      { ...CHAT, body: { messages: MESSAGES } },
      'requests[17].body.model',
      "Missing required parameter: 'model'",
    ],
    [
      'has a wrong value deep inside',
      chat({ messages: [...MESSAGES, { role: '', content: 'x' }] }),
      'requests[17].body.messages[1].role',
      '\'messages[1].role\' is ""',
    ],
    ['has an async of the wrong type', chat({ async: 1 }), 'requests[17].body.async', '1'],
    [
      'is too long to be spoken',
      { endpoint: '/v1/audio/speech', body: { model: 'm', input: 'x'.repeat(21) } },
      'requests[17].body.input',
      '21 characters',
    ],
    [
      'has a webhook of its own',
      chat({ webhook: HOOK }),
      'requests[17].body.webhook',
      'one webhook',
    ],
  ])('%s', (...row) => {
    const [, item, param, message] = row;
    const fault = faultOf(() => batch(...good, item, { ...CHAT, body: {} }));
    expect(fault).toMatchObject({ status: 400, type: 'invalid_request', code: 'invalid_item' });
    expect(fault.param).toBe(param);
    expect(fault.message).toContain(message);
    expect(fault.message).toContain('requests[17]');
  });

  test.each([
    '/v1/audio/transcriptions',
    '/v1/images/edits',
    '/v1/voice/generations',
    '/v1/audio/voices',
    '/v1/moderations',
    '/chat/completions',
    'constructor',
  ])('names the endpoint %s', (endpoint) => {
    const fault = faultOf(() => batch({ ...CHAT, endpoint }));
    expect(fault).toMatchObject({ code: 'invalid_item', param: 'requests[0].endpoint' });
    for (const allowed of [
      '/v1/chat/completions',
      '/v1/completions',
      '/v1/images/generations',
      '/v1/videos/generations',
      '/v1/music/generations',
      '/v1/audio/speech',
    ]) {
      expect(fault.message).toContain(allowed);
    }
  });
});

test.each([true, false])('async: %s inside an item is dropped', (async) => {
  const [item] = batch(chat({ async })).items;
  expect(item?.request.body).not.toHaveProperty('async');
});

describe('the label', () => {
  test('is optional, and null counts as absent', () => {
    expect(batch(CHAT).label).toBeNull();
    expect(parse({ requests: [CHAT], label: null }).label).toBeNull();
    expect(parse({ requests: [CHAT], label: 'night run' }).label).toBe('night run');
  });

  test.each([
    [7, 'invalid_type'],
    ['x'.repeat(257), 'invalid_value'],
  ])('%s is refused', (label, code) => {
    expect(faultOf(() => parse({ requests: [CHAT], label }))).toMatchObject({
      status: 400,
      code,
      param: 'label',
    });
  });
});

describe('the webhook', () => {
  test('is the batch’s', () => {
    expect(parse({ requests: [CHAT], webhook: HOOK }).webhook).toEqual(HOOK);
    expect(batch(CHAT).webhook).toBeNull();
  });

  test('is checked', () => {
    const fault = faultOf(() => parse({ requests: [CHAT], webhook: { ...HOOK, url: 'ftp://x' } }));
    expect(fault).toMatchObject({ status: 400, param: 'webhook.url' });
  });
});
