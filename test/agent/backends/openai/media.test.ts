import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import type { LocalAnswer, LocalCall } from '@inference-gateway/agent/backends/backend';
import { detectFormat } from '@inference-gateway/shared/media/types';
import { describe, expect, test } from 'vitest';
import { drain, errorOf, localCall, upload } from '../../../support/local-call.js';
import { picture } from '../../../support/pictures.js';
import type { Handler } from '../../../support/recording-server.js';
import { startRecordingServer } from '../../../support/recording-server.js';
import { until } from '../../../support/until.js';
import {
  bytes,
  dies,
  inTurn,
  json,
  page,
  sentForm,
  sentJson,
  startOpenAi,
} from './openai-stage.js';

function images(body: Record<string, unknown> = {}): LocalCall {
  return localCall({ endpoint: 'images', body: { prompt: 'a cat', n: 1, ...body } });
}

const base64 = (seed = 0): string => picture({ seed }).toString('base64');
const list = (...seeds: number[]): Handler =>
  json({ created: 1, data: seeds.map((seed) => ({ b64_json: base64(seed) })) });

async function failureOf(answering: Promise<LocalAnswer>): Promise<unknown> {
  return answering.then(drain).catch((error: unknown) => error);
}

test('always asks for the bytes, with all the caller’s fields', async () => {
  const { backend, posts } = await startOpenAi('image', list(0));
  const body = { size: '64x64', response_format: 'url', steps: 4 };
  const files = await drain(await backend.call(images(body)));
  expect(files).toHaveLength(1);
  expect(files[0]?.contentType).toBe('image/png');
  expect(posts()[0]?.path).toBe('/v1/images/generations');
  expect(sentJson(posts()[0])).toEqual({
    model: 'tiny',
    prompt: 'a cat',
    n: 1,
    size: '64x64',
    steps: 4,
    response_format: 'b64_json',
  });
});

test.each([
  ['as it should be', base64()],
  ['with line breaks', base64().replace(/.{60}/g, '$&\r\n')],
  ['as a data: URL', `data:image/png;base64,${base64()}`],
])('base64 %s is decoded', async (_what, written) => {
  const { backend } = await startOpenAi('image', json({ data: [{ b64_json: written }] }));
  const [file] = await drain(await backend.call(images()));
  expect(detectFormat(file?.bytes ?? Buffer.alloc(0))).toBe('png');
});

test('a data: URL in the place of an address, and the bare image, are taken too', async () => {
  const asUrl = json({ data: [{ url: `data:image/png;base64,${base64()}` }] });
  for (const handler of [asUrl, bytes(picture(), 'image/png')]) {
    const { backend } = await startOpenAi('image', handler);
    expect(await drain(await backend.call(images()))).toHaveLength(1);
  }
});

test('what a server writes beside the pixels stays in the house', async () => {
  const { backend } = await startOpenAi('image', list(0));
  const [file] = await drain(await backend.call(images()));
  expect(picture().includes('secret-model')).toBe(true);
  expect(file?.bytes.includes('secret-model')).toBe(false);
});

test('the revised prompt comes along, cut to 4,000 characters', async () => {
  const item = { b64_json: base64(), revised_prompt: 'x'.repeat(5_000) };
  const { backend } = await startOpenAi('image', json({ data: [item] }));
  const answer = await backend.call(images());
  if (answer.kind !== 'media') throw new Error('no media');
  const { value } = await answer.parts.next();
  expect(value?.revisedPrompt).toHaveLength(4_000);
});

describe('of several images', () => {
  test('those that are missing are asked for, with another seed', async () => {
    const { backend, posts } = await startOpenAi('image', inTurn(list(1, 2), list(3)));
    const files = await drain(await backend.call(images({ n: 4, seed: 7 })));
    expect(files).toHaveLength(4);
    const asked = posts().map((post) => [sentJson(post)['n'], sentJson(post)['seed']]);
    expect(asked).toEqual([
      [4, 7],
      [2, 9],
      [1, 10],
    ]);
  });

  test('those that nobody wanted are left out', async () => {
    const { backend, posts } = await startOpenAi('image', list(1, 2, 3));
    expect(await drain(await backend.call(images({ n: 2 })))).toHaveLength(2);
    expect(posts()).toHaveLength(1);
  });

  test('bare ones are asked for one by one, and no more often than they are many', async () => {
    const { backend, posts } = await startOpenAi('image', bytes(picture()));
    expect(await drain(await backend.call(images({ n: 3 })))).toHaveLength(3);
    expect(posts()).toHaveLength(3);
  });

  test('a refusal on the way is a failure', async () => {
    const { backend } = await startOpenAi('image', inTurn(list(1), json({ error: 'busy' }, 503)));
    const failure = await failureOf(backend.call(images({ n: 2 })));
    expect(failure).toMatchObject({ code: 'LOCAL_ERROR' });
    expect((failure as Error).message).toMatch(/made 1 of 2 images/);
  });
});

/** Answers with a URL, and serves the file there. */
function at(url: string, handler: Handler = bytes(picture(), 'image/png')): Handler {
  return (request, response) =>
    request.method === 'GET'
      ? handler(request, response)
      : json({ data: [{ url }] })(request, response);
}

describe('an address', () => {
  test.each([
    ['/files/a.png?x=1', '/files/a.png'],
    ['files/a.png', '/v1/files/a.png'],
  ])('of the server’s own, %s, is fetched with the owner’s key', async (url, path) => {
    const changes = { apiKey: 'sk-local' };
    const { backend, server } = await startOpenAi('image', at(url), { changes });
    expect(await drain(await backend.call(images()))).toHaveLength(1);
    const [got] = server.to(path);
    expect([got?.method, got?.headers.authorization]).toEqual(['GET', 'Bearer sk-local']);
  });

  test('with the server’s own origin in it is fetched', async () => {
    let origin = '';
    const { backend, server } = await startOpenAi('image', (request, response) =>
      at(`${origin}/a.png`)(request, response),
    );
    ({ origin } = server);
    expect(await drain(await backend.call(images()))).toHaveLength(1);
  });

  test('of anybody else’s is never fetched', async () => {
    const other = await startRecordingServer(bytes(picture()));
    for (const url of [
      `${other.origin}/a.png`,
      `//${new URL(other.origin).host}/a.png`,
      other.origin.replace('http:', 'https:'),
      'file:///etc/passwd',
      'http://',
    ]) {
      const { backend } = await startOpenAi('image', at(url));
      const failure = await failureOf(backend.call(images()));
      expect(failure, url).toBeInstanceOf(LocalFailure);
      expect((failure as Error).message).toMatch(/address of another server/);
    }
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test('that leads elsewhere, or to nothing, is a failure', async () => {
    const other = await startRecordingServer(bytes(picture()));
    const away: Handler = (_request, response) => {
      response.writeHead(302, { location: `${other.origin}/a.png` }).end();
    };
    for (const [handler, message] of [
      [away, /answered 302 to the address/],
      [page(404), /answered 404 to the address/],
      [page(200), /no image/],
    ] as const) {
      const { backend } = await startOpenAi('image', at('/a.png', handler));
      expect(String(await failureOf(backend.call(images())))).toMatch(message);
    }
    expect(other.requests).toEqual([]);
    await other.close();
  });
});

test.each<[string, Handler, RegExp]>([
  ['has no such path', json({ detail: 'Not Found' }, 404), /404 to \/images\/generations/],
  ['answers a page', page(200), /no image/],
  ['answers nothing', bytes(Buffer.alloc(0)), /no image/],
  ['lists nothing', json({ data: [] }), /without a file/],
  ['lists what is no file', json({ data: [{ b64: 'x' }] }), /without a file/],
  ['sends bad base64', json({ data: [{ b64_json: '!!!' }] }), /no image/],
  ['sends a sound', json({ data: [{ b64_json: btoa('RIFF0000WAVE') }] }), /no image/],
  ['breaks off its JSON', dies(Buffer.from('{"data": [')), /broke off/],
  ['never ends', json({ data: 'x'.repeat(97 * 1024 * 1024) }), /more than 100663296 bytes/],
])('a server that %s is a failure', async (_what, handler, message) => {
  const { backend } = await startOpenAi('image', handler);
  const failure = await failureOf(backend.call(images()));
  expect(failure).toBeInstanceOf(LocalFailure);
  const told = expect.stringMatching(message) as string;
  expect(failure).toMatchObject({ code: 'LOCAL_ERROR', message: told });
});

test('an error keeps its status', async () => {
  const { backend } = await startOpenAi('image', json({ error: 'prompt required' }, 400));
  const answer = await backend.call(images());
  expect(answer).toMatchObject({ status: 400 });
  expect(errorOf(answer)).toMatchObject({ message: 'prompt required' });
});

test('settings hidden in a prompt do not reach sd-server', async () => {
  const { backend, posts } = await startOpenAi('image', list(0));
  const hidden = '<sd_cpp_extra_args>{"width":4096}</sd_cpp_extra_args>';
  const prompts = { prompt: `a cat${hidden}`, negative_prompt: hidden };
  await drain(await backend.call(images(prompts)));
  expect(sentJson(posts()[0])).toMatchObject({ prompt: 'a cat', negative_prompt: '' });
});

function edit(names: readonly string[]): LocalCall {
  return localCall({
    endpoint: 'edits',
    body: { prompt: 'Grüße', n: 2, size: '64x64' },
    uploads: names.map((name, seed) => upload(name, 'image/png', picture({ seed }))),
  });
}

describe('an edit', () => {
  test.each([
    [['image'], ['image']],
    [
      ['image', 'mask'],
      ['image', 'mask'],
    ],
    [
      ['image', 'image', 'mask'],
      ['image[]', 'image[]', 'mask'],
    ],
  ])('with %j is sent as %j', async (names, wanted) => {
    const { backend, posts } = await startOpenAi('image', list(1, 2));
    expect(await drain(await backend.call(edit(names)))).toHaveLength(2);
    const [request] = posts();
    expect(request?.path).toBe('/v1/images/edits');
    expect(request?.headers['content-length']).toBe(String(request?.body.length));
    const entries = [...(await sentForm(request)).entries()];
    const files = entries.flatMap(([name, value]) =>
      value instanceof File ? [[name, value]] : [],
    );
    expect(files.map(([name]) => name)).toEqual(wanted);
    expect(entries.filter(([, value]) => typeof value === 'string')).toEqual([
      ['model', 'tiny'],
      ['prompt', 'Grüße'],
      ['n', '2'],
      ['size', '64x64'],
      ['response_format', 'b64_json'],
    ]);
  });

  test('is asked for once: its files can be sent only once', async () => {
    const { backend, posts } = await startOpenAi('image', list(1));
    expect(await drain(await backend.call(edit(['image'])))).toHaveLength(1);
    expect(posts()).toHaveLength(1);
  });
});

const hangs: Handler = () => undefined;

test('a caller who leaves between two images stops the second', async () => {
  const { backend, server, posts } = await startOpenAi('image', inTurn(list(1), hangs));
  const leaving = new AbortController();
  const answer = await backend.call({ ...images({ n: 2 }), signal: leaving.signal });
  const outcome = drain(answer).catch((error: unknown) => error);
  await until(() => posts().length === 2);
  leaving.abort('canceled');
  await until(() => server.aborts.length === 1, { timeoutMs: 1_000 });
  expect(await outcome).toBe('canceled');
});
