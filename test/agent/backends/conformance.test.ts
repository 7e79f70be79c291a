/** What every backend of text models does, whichever local server it speaks to. */
import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import { describe, expect, test } from 'vitest';
import * as behave from '../../support/fake-behaviours.js';
import { KINDS } from './conformance-kinds.js';
import { chat, drain, parse, startStage } from './conformance-stage.js';

const soon = () => AbortSignal.timeout(2_000);

describe.each(KINDS)('$name', (kind) => {
  const { path, served } = kind;

  test('describes the models as far as the local server tells', async () => {
    const { backend, fake } = await startStage(kind);
    const { models, slots } = await backend.describe(soon());
    expect(models.map(({ id }) => id)).toEqual(kind.ids);
    expect(models[0]).toEqual({
      id: served,
      served_name: served,
      context_length: null,
      input_modalities: ['text'],
      output_modalities: ['text'],
      supported_features: [],
      loaded: null,
      ...kind.told,
    });
    expect(slots).toBe(kind.slots);
    // A question must not wake or load a model, nor run one.
    expect(fake.requests).toEqual([]);
    if (kind.backend === 'sglang') expect(fake.gets).not.toContain('/health');
  });

  test('describes exactly the configured models, with what is known of them', async () => {
    const models = [configured('mine', served), configured('other', 'elsewhere')];
    const { backend } = await startStage(kind, {}, { models });
    const described = await backend.describe(soon());
    expect(described.models).toMatchObject([
      { ...kind.told, id: 'mine', served_name: served },
      { id: 'other', served_name: 'elsewhere', loaded: null },
    ]);
  });

  test('fails to describe a server that is gone or speaks of something else', async () => {
    const { backend, fake } = await startStage(kind);
    fake.routes = { '*': { hello: 'world' } };
    await expect(backend.describe(soon())).rejects.toBeInstanceOf(LocalFailure);
    await fake.close();
    await expect(backend.describe(soon())).rejects.toMatchObject({ code: 'LOCAL_UNREACHABLE' });
  });

  test('answers a chat, asked for under the local name, with our headers alone', async () => {
    const key = { apiKey: 'sk-local' };
    const { backend, fake } = await startStage(kind, key, key);
    const call = chat({ temperature: 0.7, model: 'mine' }, { id: 'mine', served_name: served });
    const answer = await backend.call(call);
    expect(answer).toMatchObject({ status: 200, usage: { prompt_tokens: 7 } });
    expect(parse(answer)).toMatchObject({ model: 'mine', object: 'chat.completion' });
    const { lastRequest } = fake;
    expect(lastRequest.path).toBe(`${path}/chat/completions`);
    expect(lastRequest.body).toMatchObject({ model: served, temperature: 0.7 });
    expect(lastRequest.headers).toEqual({
      host: new URL(fake.origin).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'content-length': String(Buffer.byteLength(lastRequest.text)),
      authorization: 'Bearer sk-local',
    });
  });

  test('answers a legacy completion', async () => {
    const { backend, fake } = await startStage(kind);
    const answer = await backend.call({ ...chat({ prompt: 'a' }), endpoint: 'completions' });
    expect(parse(answer)).toMatchObject({ object: 'text_completion' });
    expect(fake.lastRequest.path).toBe(`${path}/completions`);
  });

  test('drops what the owner does not let through', async () => {
    const { backend, fake } = await startStage(kind, {}, { dropFields: ['temperature'] });
    await backend.call(chat({ temperature: 1, top_p: 0.5 }));
    expect(fake.lastRequest.body).not.toHaveProperty('temperature');
    expect(fake.lastRequest.body).toHaveProperty('top_p', 0.5);
  });

  test('serves no other endpoint', async () => {
    const { backend, fake } = await startStage(kind);
    const answer = await backend.call({ ...chat({}), endpoint: 'speech' });
    expect(answer).toMatchObject({ kind: 'document', status: 404 });
    expect(fake.requests).toEqual([]);
  });

  test('JSON for a stream, SSE for JSON, a wrong type and no [DONE] come out right', async () => {
    const { backend, fake } = await startStage(kind);
    fake.once(behave.document({ text: 'whole' }));
    const asStream = await drain(await backend.call(chat({ stream: true })));
    expect(asStream.text).toContain('"content":"whole"');
    fake.once(behave.stream(['in ', 'pieces']));
    expect(parse(await backend.call(chat({})))).toMatchObject({
      choices: [{ message: { content: 'in pieces' }, finish_reason: 'stop' }],
    });
    const wrong = { choices: [{ message: { content: 'typed wrong' } }] };
    fake.once(behave.reply(200, wrong, 'text/html'));
    expect(parse(await backend.call(chat({})))).toMatchObject({
      choices: [{ message: { content: 'typed wrong' } }],
    });
    fake.once(behave.noDone(['bye']));
    expect((await drain(await backend.call(chat({ stream: true })))).text).toContain('bye');
  });
});

test.each(KINDS.filter(({ knowsKeys }) => knowsKeys))(
  '$name names the missing key',
  async (kind) => {
    const { backend } = await startStage(kind, { apiKey: 'sk-local' }, { apiKey: null });
    await expect(backend.describe(soon())).rejects.toThrow(/api_key_file/);
  },
);

test.each(KINDS.filter(({ streams }) => streams))(
  '$name streams, and keeps the connection',
  async (kind) => {
    const behaviour = behave.chunks({ count: 20, delayMs: 2 });
    const { backend, fake } = await startStage(kind, { behaviour });
    for (let round = 0; round < 2; round++) {
      const { text, usage } = await drain(await backend.call(chat({ stream: true })));
      expect(text.match(/^data: /gm)).toHaveLength(21);
      expect(text).toContain('"c19 "');
      expect(text).not.toContain('[DONE]');
      expect(usage).toEqual({ prompt_tokens: 7, completion_tokens: 20, total_tokens: 27 });
    }
    expect(fake.aborts).toEqual([]);
    expect(fake.inFlight).toBe(0);
  },
);

test.each(KINDS.filter(({ streams }) => !streams))(
  '$name tells a whole answer as a stream',
  async (kind) => {
    const { backend, fake } = await startStage(kind);
    const answer = await backend.call(
      chat({ stream: true, stream_options: { include_usage: true } }),
    );
    expect(answer.kind).toBe('events');
    const { text, usage } = await drain(answer);
    expect(text).toContain('"content":"Hello from the fake."');
    expect(text).toMatch(/"choices":\[\],"usage":\{"prompt_tokens":7/);
    expect(usage).toMatchObject({ prompt_tokens: 7 });
    expect(fake.lastRequest.body).not.toHaveProperty('stream');
    expect(fake.lastRequest.body).not.toHaveProperty('stream_options');
  },
);

function configured(id: string, servedName: string) {
  return { id, servedName, contextLength: null, inputModalities: null, supportedFeatures: null };
}
