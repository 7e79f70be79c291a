import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { picture } from '../support/pictures.js';
import { silentWav } from '../support/sound.js';
import { BATCHES, chatItem, JOBS } from './job-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { chat, failureOf, post } from './requests.js';

let stage: JobStage;
let fake: FakeModelServer;

beforeAll(async () => {
  stage = await openJobStage();
  ({ fake } = stage);
  return stage.stop;
});

/** The error of a request that must reach no local server and create no job. */
async function refused(send: () => Promise<Response>) {
  const before = fake.requests.length;
  const { status, code, param, message } = await failureOf(await send());
  expect(fake.requests).toHaveLength(before);
  expect(await (await stage.gateway.fetch(JOBS)).json()).toMatchObject({ data: [] });
  return { status, code, param, message };
}

const image = { type: 'image_url', image_url: { url: 'data:,' } };

describe('a name that a server in Go would read as another one', () => {
  it.each<[string, object, string]>([
    ['Model', { Model: 'private:70b' }, 'model'],
    ['MAX_TOKENS', { max_tokens: 1, MAX_TOKENS: 100_000 }, 'max_tokens'],
    ['Messages', { Messages: [] }, 'messages'],
    ['me\u017f\u017fages', { 'me\u017f\u017fages': [] }, 'messages'],
    ['max_to\u212aens', { 'max_to\u212aens': 100_000 }, 'max_tokens'],
    ['ID_SLOT', { ID_SLOT: 1 }, 'id_slot'],
    ['Async', { Async: true }, 'async'],
    ['Webhook', { Webhook: { url: 'https://example.org/x', secret: 's' } }, 'webhook'],
    [
      'messages[0].content[0].Image_URL',
      { messages: [{ role: 'user', content: [{ ...image, Image_URL: { url: 'http://x' } }] }] },
      'image_url',
    ],
  ])('%s is refused, at once and as a job and in a batch', async (param, fields, right) => {
    const { gateway } = stage;
    const expected = { status: 400, code: 'invalid_value', param };
    const direct = await refused(() => post(gateway, chat(fields)));
    expect(direct).toMatchObject(expected);
    expect(direct.message).toContain(`'${right}'`);
    expect(await refused(() => post(gateway, chat({ ...fields, async: true })))).toMatchObject(
      expected,
    );
    const requests = [chatItem(), chatItem(fields)];
    expect(await refused(() => post(gateway, { requests }, { path: BATCHES }))).toMatchObject({
      status: 400,
      code: 'invalid_item',
      param: `requests[1].body.${param}`,
    });
  });

  it('is refused beside the items of a batch', async () => {
    const body = { requests: [chatItem()], Webhook: {} };
    expect(await refused(() => post(stage.gateway, body, { path: BATCHES }))).toMatchObject({
      code: 'invalid_value',
      param: 'Webhook',
    });
  });

  it.each([
    ['/v1/completions', { prompt: 'x', N: 9 }, 'N'],
    ['/v1/audio/speech', { input: 'x', Voice: 'b' }, 'Voice'],
    ['/v1/images/generations', { prompt: 'x', Init_Image: '/etc/passwd' }, 'Init_Image'],
    ['/v1/videos/generations', { prompt: 'x', Image: '/etc/passwd' }, 'Image'],
    ['/v1/music/generations', { prompt: 'x', Reference_Audio: '/x' }, 'Reference_Audio'],
  ])('is refused by %s', async (path, fields, param) => {
    const body = { model: 'tiny', ...fields };
    expect(await refused(() => post(stage.gateway, body, { path }))).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param,
    });
  });

  it('is refused as a field of a form, with brackets or without', async () => {
    const forms = [
      ['/v1/audio/transcriptions', 'file', silentWav(1)],
      ['/v1/images/edits', 'image', picture()],
      ['/v1/voice/generations', 'file', silentWav(1)],
    ] as const;
    for (const [path, name, bytes] of forms) {
      for (const param of ['Model', 'MODEL[]', 'model[]', 'model[0]', 'Respon\u017fe_Format']) {
        const form = new FormData();
        form.append('model', 'plain');
        form.append('prompt', 'x');
        form.append('input', 'x');
        form.append(param, 'private');
        form.append(name, new Blob([new Uint8Array(bytes)]), 'file');
        const sent = stage.gateway.fetch(path, { method: 'POST', body: form });
        expect(await failureOf(await sent)).toMatchObject({ status: 400, param });
      }
    }
  });

  it('is refused in a query', async () => {
    const response = await stage.gateway.fetch('/v1/audio/voices?model=tiny&Model=other');
    expect(await failureOf(response)).toMatchObject({ status: 400, param: 'Model' });
  });
});

describe('any spelling passes', () => {
  it('of a name that nothing here reads', async () => {
    const response = await post(stage.gateway, chat({ Top_K: 4, My: { Field: 1 } }));
    expect(response.status).toBe(200);
    expect(fake.lastRequest.body).toMatchObject({ Top_K: 4, My: { Field: 1 } });
  });

  it('where names are the caller’s own', async () => {
    const parameters = { type: 'object', properties: { Model: { type: 'string' } } };
    const fields = {
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
      metadata: { User: 'u', Model: 'm' },
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: parameters } },
    };
    const response = await post(stage.gateway, chat(fields));
    expect(response.status).toBe(200);
    expect(fake.lastRequest.body).toMatchObject(fields);
  });
});

it('of names that come twice, the server is sent the one that was checked', async () => {
  const body = '{"model":"private","messages":[{"role":"user","content":"x"}],"model":"tiny"}';
  expect((await post(stage.gateway, body)).status).toBe(200);
  expect(fake.lastRequest.text.match(/"model"/g)).toHaveLength(1);
});
