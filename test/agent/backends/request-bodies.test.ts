import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { callInSequences } from '@inference-gateway/agent/backends/sequences';
import { checkBody } from '@inference-gateway/agent/openai-wire/checked-body';
import { shapeRequest } from '@inference-gateway/agent/openai-wire/request-body';
import { RequestBodies } from '@inference-gateway/agent/backends/request-bodies';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { JsonScan } from '@inference-gateway/shared/json/scan';
import { writeSparse } from '@inference-gateway/shared/json/sparse';
import { afterAll, expect, test } from 'vitest';
import { localCall } from '../../support/local-call.js';

const MIB = 1024 * 1024;
const LONG = 'é"\\\n 漢字'.repeat(50_000);

const bodies = new RequestBodies();
afterAll(() => bodies.close());

function read(bytes: Buffer, endpoint: EndpointKey = 'chat', messages?: 'plain') {
  const scan = new JsonScan();
  scan.add(bytes);
  return bodies.read(
    bytes,
    { endpoint, messages },
    { values: scan.count, fault: null, caller: 'Anna' },
  );
}

type Checked = Pick<LocalCall, 'body' | 'promptTokens'>;

/** What a local server is sent for it, one request an answer, and the estimate of each prompt. */
async function sentFor(endpoint: EndpointKey, { body, promptTokens }: Checked) {
  const sent: unknown[] = [];
  const backend = {
    call: async (call: LocalCall) => {
      const shaped = shapeRequest(call, new Set(['Dropped']));
      sent.push(JSON.parse(String(shaped.body)), shaped.form.promptTokens?.());
      return { kind: 'document', status: 200, json: '{"choices":[]}', usage: null } as const;
    },
  };
  const call = { ...localCall({ endpoint }), body, ...(promptTokens && { promptTokens }) };
  await callInSequences(backend, call, 1);
  return sent;
}

function allowed<T extends { readonly kind: string }>(checked: T): Extract<T, Checked> {
  if (checked.kind === 'refused') throw new Error(JSON.stringify(checked));
  return checked as Extract<T, Checked>;
}

const said = (content: unknown, role = 'user') => ({ role, content });
const called = { function: { name: 'f', arguments: { Model: LONG } } };

test.each<[string, EndpointKey, object, 'plain'?]>([
  ['messages', 'chat', { messages: [said('short'), said(LONG)], max_tokens: 5, n: 1 }],
  ['several answers', 'chat', { messages: [said(LONG)], n: 3, seed: 7, best_of: 4 }],
  ['calls of tools', 'chat', { messages: [{ role: 'assistant', tool_calls: [called] }] }],
  ['a template', 'chat', { messages: [said('x')], chat_template_kwargs: { a: LONG, tokenize: 1 } }],
  ['plain messages', 'chat', { messages: [said([{ type: 'text', text: LONG }], 'tool')] }, 'plain'],
  ['what is dropped', 'chat', { messages: [said('x')], dropped: LONG, Dropped: 1, top_k: 2 }],
  ['prompts', 'completions', { prompt: ['a', LONG, 'b'], suffix: 'x', n: 2 }],
  ['token ids', 'completions', { prompt: Array.from({ length: 9_000 }, (_, id) => id) }],
  ['lists of them', 'completions', { prompt: [[1, 2], Array.from({ length: 9_000 }, () => 3)] }],
])('a large body with %s is sent as a small one is', async (_what, ...asked) => {
  const [endpoint, fields, messages] = asked;
  const body = { model: 'tiny', ...fields, padding: LONG };
  const inThread = allowed(await read(Buffer.from(JSON.stringify(body)), endpoint, messages));
  const onLoop = allowed(checkBody(body, { endpoint, messages }));
  expect(inThread.promptTokens).toBeDefined();
  expect(await sentFor(endpoint, inThread)).toEqual(await sentFor(endpoint, onLoop));
});

test('what a backend for media reads of a large body are values', async () => {
  const image = `data:image/png;base64,${'A'.repeat(MIB)}`;
  const fields = { model: 'tiny', prompt: 'x', image, seed: 7, loras: [LONG] };
  const checked = await read(Buffer.from(JSON.stringify(fields)), 'videos');
  const { body } = allowed(checked);
  expect(body).toMatchObject({ prompt: 'x', image, seed: 7 });
  expect(JSON.parse(String(writeSparse(body)))).toEqual(fields);
});

const many = (count: number, item: string): string =>
  Array.from({ length: count }, () => item).join(',');
const padded = (inside: string): Buffer =>
  Buffer.from(`{"model":"m","messages":[{"role":"user","content":"x"}],"x":[${inside}]}`);

// The largest that are let through: some seconds of CPU, which is the work that is tested.
test.each([
  ['objects', () => many(290_000, '{}')],
  ['names', () => many(140_000, '{"a":"b"}')],
  ['numbers', () => many(1_900_000, '0.123')],
  ['texts', () => many(20, `"${'\\n'.repeat(MIB / 2)}"`)],
])('the loop is free while a body full of %s is read', { timeout: 60_000 }, async (_w, make) => {
  const state = { turns: 0, isRead: false };
  const reading = read(padded(make())).finally(() => (state.isRead = true));
  while (!state.isRead) {
    await new Promise(setImmediate);
    state.turns += 1;
  }
  expect(await reading).toMatchObject({ kind: 'checked', body: { model: 'm' } });
  // Parsed here, it would have had none between the question and the answer.
  expect(state.turns).toBeGreaterThan(20);
});

test('what is no JSON object fails, and the thread goes on', async () => {
  await expect(read(Buffer.from(`[${many(6_000, '{}')}]`))).rejects.toThrow('no JSON object');
  await expect(read(Buffer.from(`{"x":"${LONG.slice(0, MIB)}`))).rejects.toThrow(/JSON/);
  expect(await read(padded(many(6_000, '{}')))).toMatchObject({ kind: 'checked' });
});
