import type { CatalogEntry } from '@inference-gateway/agent/backends/catalog/catalog';
import { LONGEST_RUN_MS, limitOf, run } from '@inference-gateway/agent/work/run';
import { RequestBodies } from '@inference-gateway/agent/backends/request-bodies';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { afterAll, describe, expect, test } from 'vitest';
import { openWork } from './work-stage.js';

const host = {
  logger: createLogger('silent'),
  bodies: new RequestBodies(),
  slots: 1,
  unreachable: () => {},
};
afterAll(() => host.bodies.close());

test.each([
  ['the deadline that the coordinator gives', 280_000, 280_000],
  ['six hours where it gives none', 0, 6 * 3_600_000],
  ['six hours where it gives days', 23 * 86_400_000, LONGEST_RUN_MS],
])('a run may take %s', (_what, deadlineMs, limitMs) => {
  expect(limitOf(deadlineMs)).toBe(limitMs);
});

const PIECE_BYTES = 64 * 1024;

/** What is answered to a body that no backend is ever asked with. */
async function refusalOf(endpoint: EndpointKey, fields: object): Promise<unknown> {
  const body = Buffer.from(JSON.stringify({ model: 'm', ...fields }));
  const { work, answered } = openWork([], { endpoint, body: { bytes: body.length } });
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    work.receive(body.subarray(at, at + PIECE_BYTES));
  }
  const asked: unknown[] = [];
  const backend = { call: (call: unknown) => asked.push(call) };
  const entry = { models: [{ id: 'm' }], backend } as unknown as CatalogEntry;
  await run(work, entry, host);
  expect(asked).toEqual([]);
  return JSON.parse(answered());
}

/** As large as a body that is read in the thread. */
const LARGE = 'x'.repeat(300_000);
const picture = { type: 'image_url', image_url: { url: 'http://127.0.0.1/secret' } };

describe.each([
  ['a small body', {}],
  ['a large body', { padding: LARGE }],
])('whatever a coordinator lets through, %s reaches no local server', (_size, padding) => {
  test.each([
    ['chat', { messages: [{ role: 'user', Content: 'x' }] }, 'messages[0].Content'],
    ['images', { prompt: 'x', Image: '/etc/passwd' }, 'Image'],
    ['speech', { input: 'x', Voice: 'b' }, 'Voice'],
    ['transcriptions', { 'MODEL[]': 'x' }, 'MODEL[]'],
    ['edits', { prompt: 'x', Mask: 'x' }, 'Mask'],
    ['voice', { input: 'x', Input: 'y' }, 'Input'],
  ] as const)('with a name in another case from %s', async (endpoint, fields, param) => {
    const refusal = await refusalOf(endpoint, { ...padding, ...fields });
    expect(refusal).toMatchObject({ error: { code: 'invalid_value', param } });
  });

  test.each([
    ['chat', { messages: [{ role: 'user', content: [picture] }] }, 'messages[0].content[0]'],
    ['images', { prompt: 'x', image: 'http://127.0.0.1/secret' }, 'image'],
    ['videos', { prompt: 'x', image: '/home/ann/private.png' }, 'image'],
    ['edits', { prompt: 'x', image_url: 'http://127.0.0.1/' }, 'image_url'],
    ['speech', { input: 'x', speaker_wav: '/home/ann/a.wav' }, 'speaker_wav'],
    ['music', { prompt: 'x', src_audio_path: '/home/ann/a.wav' }, 'src_audio_path'],
    ['transcriptions', { url: 'http://127.0.0.1/' }, 'url'],
    ['voice', { input: 'x', reference_audio: 'file:///etc/passwd' }, 'reference_audio'],
  ] as const)('with media that it would fetch, from %s', async (endpoint, fields, param) => {
    const refusal = await refusalOf(endpoint, { ...padding, ...fields });
    const told = expect.stringContaining(param) as unknown;
    expect(refusal).toMatchObject({ error: { code: 'unsupported_value', param: told } });
  });

  test.each([
    ['chat', { messages: [], n: 1_025 }],
    ['completions', { prompt: Array.from({ length: 600 }, () => 'x'), n: 2 }],
  ] as const)('with more than 1,024 answers, from %s', async (endpoint, fields) => {
    const refusal = await refusalOf(endpoint, { ...padding, ...fields });
    expect(refusal).toMatchObject({ error: { code: 'invalid_value', param: 'n' } });
  });
});

test('a body that is more than the limits of JSON reaches no local server', async () => {
  const body = Buffer.from(`{"model":"m","messages":[],"x":${'['.repeat(100)}${']'.repeat(100)}}`);
  const { work, answered } = openWork([], { endpoint: 'chat', body: { bytes: body.length } });
  for (const byte of body) work.receive(Buffer.of(byte));
  const entry = { models: [{ id: 'm' }], backend: {} } as unknown as CatalogEntry;
  await run(work, entry, host);
  expect(JSON.parse(answered())).toMatchObject({
    error: { code: 'invalid_json', message: expect.stringContaining('64 levels') as string },
  });
});
