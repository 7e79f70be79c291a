import { parseBatch } from '@inference-gateway/shared/openai/batch-requests';
import { parseRequest } from '@inference-gateway/shared/openai/requests';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { expect, test } from 'vitest';
import { DOCUMENT, expectSchema } from '../../support/openapi.js';

const LIMITS = { maxImages: 4, maxSpeechCharacters: 5_000 };
const messages = [{ role: 'user', content: 'hello' }];
const chat = { model: 'm', messages };
const image = { model: 'm', prompt: 'a cat' };
const webhook = { url: 'https://example.org/hook', secret: `whsec_${'A'.repeat(32)}` };

/** Bodies that the gateway accepts (true) or refuses (false). */
const BODIES: readonly (readonly [boolean, EndpointKey, object])[] = [
  [true, 'chat', chat],
  [true, 'chat', { ...chat, temperature: null, more: { any: 'thing' } }],
  [true, 'chat', { ...chat, async: true, webhook }],
  [true, 'chat', { ...chat, messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
  [false, 'chat', { model: 'm' }],
  [false, 'chat', { ...chat, messages: [] }],
  [false, 'chat', { ...chat, messages: [{ content: 'hello' }] }],
  [false, 'chat', { ...chat, messages: [{ role: 'user', content: [1] }] }],
  [false, 'chat', { ...chat, temperature: 3 }],
  [false, 'chat', { ...chat, async: 'true' }],
  [false, 'chat', { ...chat, webhook: { url: 'https://example.org/hook' } }],
  [false, 'chat', { ...chat, webhook: { ...webhook, secret: 'short' } }],
  [true, 'completions', { model: 'm', prompt: '' }],
  [true, 'completions', { model: 'm', prompt: ['a', 'b'], n: 2, echo: true }],
  [true, 'completions', { model: 'm', prompt: [1, 2] }],
  [true, 'completions', { model: 'm', prompt: [[1], [2, 3]] }],
  [false, 'completions', { model: 'm', prompt: [] }],
  [false, 'completions', { model: 'm', prompt: ['a', 1] }],
  [false, 'completions', { model: 'm', prompt: [[1], []] }],
  [false, 'completions', { model: 'm', prompt: [1.5] }],
  [false, 'completions', { model: 'm' }],
  [true, 'speech', { model: 'm', input: 'hello', response_format: 'opus' }],
  [false, 'speech', { model: 'm', input: 'hello', response_format: 'midi' }],
  [false, 'speech', { model: 'm', input: 'hello', stream_format: 'sse' }],
  [true, 'images', { ...image, n: 99, size: '512x512' }],
  [false, 'images', { ...image, size: 'large' }],
  [false, 'images', { ...image, stream: true }],
  [true, 'videos', { ...image, duration: 4 }],
  [false, 'videos', { ...image, width: 3 }],
  [true, 'music', { ...image, response_format: 'url' }],
  [false, 'music', { ...image, response_format: 'b64_json' }],
];

test.each(BODIES)('%s: %s takes %j, and so the document says', (isTaken, key, body) => {
  expect(succeeds(() => parseRequest(key, body, LIMITS))).toBe(isTaken);
  expect(succeeds(() => expectSchema(schemaOf(key), body))).toBe(isTaken);
});

const item = { endpoint: '/v1/images/generations', body: image };

test.each([
  [true, { requests: [item], label: 'evening', webhook }],
  [true, { requests: Array.from({ length: 256 }, () => item), label: null }],
  [false, { requests: [] }],
  [false, { requests: Array.from({ length: 257 }, () => item) }],
  [false, { requests: [{ ...item, endpoint: '/v1/images/edits' }] }],
  [false, { requests: [{ endpoint: item.endpoint }] }],
  [false, { requests: [item], label: 7 }],
  [false, { requests: [item], webhook: { url: 'https://example.org/' } }],
])('%s: a batch takes such a body, and so the document says (case %#)', (isTaken, body) => {
  expect(succeeds(() => parseBatch(body, LIMITS))).toBe(isTaken);
  expect(succeeds(() => expectSchema('BatchRequest', body))).toBe(isTaken);
});

function schemaOf(key: EndpointKey): string {
  const { path } = ENDPOINTS[key];
  const schema = DOCUMENT.paths[`/v1${path}`]?.post?.requestBody?.content['application/json'];
  return String(schema?.schema['$ref']).split('/').at(-1) ?? '';
}

function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
