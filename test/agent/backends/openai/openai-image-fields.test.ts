/** Which fields of a request for images reach the local server. */
import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { describe, expect, test } from 'vitest';
import { drain, localCall } from '../../../support/local-call.js';
import { picture } from '../../../support/pictures.js';
import { json, sentJson, startOpenAi } from './openai-stage.js';

function images(body: Record<string, unknown> = {}): LocalCall {
  return localCall({ endpoint: 'images', body: { prompt: 'a cat', n: 1, ...body } });
}

const one = json({ created: 1, data: [{ b64_json: picture({ seed: 0 }).toString('base64') }] });

test.each([
  ['a form', { contentType: 'application/json', bytes: 2, chunks: ['{}'] }],
  ['half a form', { contentType: 'text/plain', chunks: 5 }],
])('a caller’s fields that look like %s are fields', async (_what, fields) => {
  const { backend, posts } = await startOpenAi('image', one);
  await drain(await backend.call(images(fields)));
  expect(sentJson(posts()[0])).toMatchObject({ model: 'tiny', n: 1, ...fields });
});

test('what the owner drops is not added here either', async () => {
  const changes = { dropFields: ['response_format', 'steps'] };
  const { backend, posts } = await startOpenAi('image', one, { changes });
  await drain(await backend.call(images({ steps: 4 })));
  expect(sentJson(posts()[0])).toEqual({ model: 'tiny', prompt: 'a cat', n: 1 });
});

describe('seeds', () => {
  test('a server that makes one image at a time is given another one each time', async () => {
    const { backend, posts } = await startOpenAi('image', one);
    await drain(await backend.call(images({ n: 3 })));
    const seeds = posts().map((post) => sentJson(post)['seed']);
    expect(seeds[0]).toBeUndefined();
    expect(seeds.slice(1)).toEqual([expect.any(Number), expect.any(Number)]);
    expect(seeds[1]).not.toBe(seeds[2]);
  });
});
