/** OpenAI's Responses API, served by chat completions of a local server. */
import type OpenAI from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  answer,
  chunks,
  dieMidStream,
  errorEvent,
  hangBeforeHeaders,
  reply,
} from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { ended, getJob, JOBS, keyOf, pauseQueue, resumeQueue, submitBatch } from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const RESPONSES = '/v1/responses';
const ASKED = { model: 'tiny', input: 'hello' } as const;
const TEXT = 'Hello from home.';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway, fake } = served);
  return served.stop;
});

beforeEach(() => fake.behave(answer({ text: TEXT })));

const ask = (fields: object = {}, headers: Record<string, string> = {}) =>
  post(gateway, { ...ASKED, ...fields }, { path: RESPONSES, headers });

/** What the local server was sent. */
const seen = (): Record<string, unknown> => fake.requests.at(-1)?.body ?? {};

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[];
}

const shown = async (response: Response): Promise<Shown> => (await response.json()) as Shown;

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  let client: OpenAI;
  beforeAll(() => {
    client = connect(Sdk, gateway);
  });

  it('responses.create', async () => {
    const response = await client.responses.create({ ...ASKED, instructions: 'Be short.' });
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_\w+$/) as string,
      object: 'response',
      status: 'completed',
      model: 'tiny',
      instructions: 'Be short.',
      output_text: TEXT,
      usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
    });
    expect(seen()['messages']).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'hello' },
    ]);
  });

  it('responses.stream', async () => {
    const stream = client.responses.stream(ASKED);
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => void deltas.push(delta));
    const response = await stream.finalResponse();
    expect(response.output_text).toBe(TEXT);
    expect(deltas.join('')).toBe(TEXT);
    expect(deltas.length).toBeGreaterThan(1);
    expect(response.usage).toMatchObject({ input_tokens: 7, output_tokens: 3 });
  });

  it('an error inside a stream is raised', async () => {
    fake.once(errorEvent('the card is out of memory'));
    const failure = await readAll(client).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.APIError);
    expect(failure).toMatchObject({ code: 'provider_error' });
    expect(String(failure)).toContain('out of memory');
  });

  it('background: created, fetched until it is complete', async () => {
    await pauseQueue(gateway);
    const created = await client.responses.create({ ...ASKED, background: true });
    expect(created).toMatchObject({ status: 'queued', background: true, output: [] });
    expect(await client.responses.retrieve(created.id)).toMatchObject({ status: 'queued' });
    await resumeQueue(gateway);
    await ended(gateway, created.id.replace('resp_', ''));
    const response = await client.responses.retrieve(created.id);
    expect(response).toMatchObject({ id: created.id, status: 'completed', background: true });
    expect(response.output_text).toBe(TEXT);
  });

  it('background: canceled', async () => {
    fake.once(hangBeforeHeaders());
    const { id } = await client.responses.create({ ...ASKED, background: true });
    await until(() => fake.inFlight === 1);
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'in_progress' });
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    await until(() => fake.inFlight === 0);
    expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a stream', () => {
  it('has each event once, in order, numbered from 0, and no data: [DONE]', async () => {
    const response = await ask({ stream: true });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = eventsIn(await response.text());
    expect(events.map(({ data }) => data['sequence_number'])).toEqual([...events.keys()]);
    expect(events.every(({ name, data }) => name === data['type'])).toBe(true);
    const names = events.map(({ name }) => name);
    expect(names.filter((name, at) => name !== names[at - 1])).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it('that breaks ends with response.failed and error', async () => {
    fake.once(dieMidStream());
    const events = eventsIn(await (await ask({ stream: true })).text());
    const [failed, error] = events.slice(-2);
    expect(failed).toMatchObject({
      name: 'response.failed',
      data: { response: { status: 'failed', error: { code: 'provider_error' } } },
    });
    expect(error).toMatchObject({ name: 'error', data: { code: 'provider_error' } });
  });

  it('that a limit cuts ends with response.incomplete', async () => {
    fake.once((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choices = [{ index: 0, delta: { content: 'Hel' }, finish_reason: 'length' }];
      response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
    });
    const events = eventsIn(await (await ask({ stream: true, max_output_tokens: 1 })).text());
    expect(seen()['max_tokens']).toBe(1);
    const incomplete_details = { reason: 'max_output_tokens' };
    expect(events.at(-1)).toMatchObject({
      name: 'response.incomplete',
      data: { response: { status: 'incomplete', incomplete_details } },
    });
  });

  it('whose caller leaves stops the GPU', async () => {
    fake.once(chunks({ count: 1_000, delayMs: 10 }));
    const before = fake.aborts.length;
    const leaving = new AbortController();
    const response = await gateway.fetch(RESPONSES, {
      method: 'POST',
      body: JSON.stringify({ ...ASKED, stream: true }),
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    leaving.abort();
    await until(() => fake.aborts.length > before);
  });

  it('fails over until its first event', async () => {
    const broken = await startFakeOpenAi();
    broken.behave(reply(500, { error: 'broken' }));
    const agent = await gateway.startAgent({ services: [{ baseUrl: broken.baseUrl }], name: 'b' });
    const wasAsked = () => broken.requests.some(({ body }) => body['messages'] !== undefined);
    await until(async () => {
      const text = await (await ask({ stream: true })).text();
      expect(eventsIn(text).at(-1)?.name).toBe('response.completed');
      return wasAsked();
    });
    await agent.stop();
    await broken.close();
  });
});

describe('what the gateway cannot do', () => {
  it.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }, 'keeps no conversations'],
    ['conversation', { conversation: 'conv_1' }, 'keeps no conversations'],
    ['prompt', { prompt: { id: 'pmpt_1' } }, 'template'],
    ['input[1].type', { input: [{ role: 'user', content: 'x' }, { type: 'magic' }] }, 'magic'],
    ['input[0].type', { input: [{ type: 'item_reference', id: 'fc_1' }] }, 'send the item itself'],
    [
      'input[0].content[0].image_url',
      {
        input: [
          { role: 'user', content: [{ type: 'input_image', image_url: 'http://10.0.0.1/x' }] },
        ],
      },
      'fetches no addresses',
    ],
    ['tool_choice', { tools: [webSearch()], tool_choice: webSearch() }, 'cannot run'],
    ['stream', { stream: true, background: true }, 'background'],
    ['input', { input: 7 }, 'text or an array'],
    ['model', { model: undefined }, 'Missing'],
  ])('is 400, and names %s', async (param, fields, message) => {
    const failure = await failureOf(await ask(fields));
    expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error', param });
    expect(failure.message).toContain(message);
  });

  it('tools of OpenAI are left out, and named in a header', async () => {
    const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
    const response = await ask({ tools: [webSearch(), tool, { type: 'file_search' }] });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ignored-tools')).toBe('web_search, file_search');
    expect(response.headers.get('access-control-expose-headers')).toContain('x-ignored-tools');
    expect(seen()['tools']).toMatchObject([{ type: 'function', function: { name: 'f' } }]);
  });

  it('a model that is not there is 404, as at /chat/completions', async () => {
    const failure = await failureOf(await ask({ model: 'nowhere' }));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  });

  it('misspelled fields are refused, as everywhere', async () => {
    expect(await failureOf(await ask({ Stream: true }))).toMatchObject({ param: 'Stream' });
  });

  it('fields of OpenAI’s own keeping are ignored', async () => {
    const fields = { store: true, include: [], service_tier: 'auto', truncation: 'auto' };
    const response = await ask({ ...fields, client_metadata: { a: 'b' }, safety_identifier: 's' });
    expect(response.status).toBe(200);
    expect(Object.keys(seen()).toSorted()).toEqual(['messages', 'model', 'temperature']);
  });
});

describe('jobs', () => {
  it('async: true is a job whose result is a response', async () => {
    const accepted = await ask({ async: true });
    expect(accepted.status).toBe(202);
    const job = (await accepted.json()) as JobBody;
    expect(job).toMatchObject({ endpoint: RESPONSES, inference_type: 'LLM' });
    const { result, status } = await ended(gateway, job.id);
    expect(status).toBe('PROCESSED');
    const output = [{ type: 'message', content: [{ type: 'output_text', text: TEXT }] }];
    expect(result).toMatchObject({ id: `resp_${job.id}`, status: 'completed', output });
  });

  it('an item of a batch, beside chats', async () => {
    const created = await submitBatch(gateway, [{ endpoint: RESPONSES, body: ASKED }]);
    const { id } = (await created.json()) as BatchBody;
    const batch = (await (await gateway.fetch(`/v1/batches/${id}`)).json()) as BatchBody;
    const [item] = batch.jobs ?? [];
    const { result, endpoint } = await ended(gateway, item?.id ?? '');
    expect(endpoint).toBe(RESPONSES);
    expect(result).toMatchObject({ object: 'response', status: 'completed' });
  });

  it('one Idempotency-Key is one response in the background', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await shown(await ask({ background: true }, headers));
    await ended(gateway, first.id.replace('resp_', ''));
    const again = await ask({ background: true }, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await shown(again)).toMatchObject({ id: first.id, status: 'completed' });
  });

  it('one that fails says why', async () => {
    fake.behave(reply(400, { error: { message: 'no such thing' } }));
    const { id } = await shown(await ask({ background: true }));
    await ended(gateway, id.replace('resp_', ''));
    const failed = (await (await gateway.fetch(`${RESPONSES}/${id}`)).json()) as object;
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'provider_rejected' } });
  });

  it('the webhook is told of it as of any job, and it is in the list', async () => {
    const { id } = await shown(await ask({ background: true }));
    const job = await getJob(gateway, id.replace('resp_', ''), '?wait=20');
    expect(job).toMatchObject({ endpoint: RESPONSES, status: 'PROCESSED' });
  });

  it('nobody else sees or cancels it, and chats are no responses', async () => {
    const { id } = await shown(await ask({ background: true }));
    const headers = keyOf(gateway.ben);
    for (const [path, method] of [
      [`${RESPONSES}/${id}`, 'GET'],
      [`${RESPONSES}/${id}/cancel`, 'POST'],
      [`${RESPONSES}/nothing`, 'GET'],
    ] as const) {
      const failure = await failureOf(await gateway.fetch(path, { method, headers }));
      expect(failure).toMatchObject({ status: 404, code: 'job_not_found' });
    }
    const chat = (await (await post(gateway, { ...CHAT, async: true })).json()) as JobBody;
    const other = await failureOf(await gateway.fetch(`${RESPONSES}/resp_${chat.id}`));
    expect(other).toMatchObject({ status: 404, code: 'job_not_found' });
    expect((await getJob(gateway, chat.id)).endpoint).toBe('/v1/chat/completions');
    expect(await gateway.fetch(`${JOBS}/${chat.id}`)).toMatchObject({ status: 200 });
  });
});

async function readAll(client: OpenAI): Promise<void> {
  const events = await client.responses.create({ ...ASKED, stream: true });
  for await (const _event of events) continue;
}

const CHAT = { model: 'tiny', messages: [{ role: 'user', content: 'x' }] };

function webSearch() {
  return { type: 'web_search' };
}

interface StreamEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function eventsIn(text: string): StreamEvent[] {
  return text.split('\n\n').flatMap((event) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
    if (name === undefined || data === undefined) return [];
    return [{ name, data: JSON.parse(data) as StreamEvent['data'] }];
  });
}
