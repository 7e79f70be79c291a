/** That no backend and no fingerprint is without a row in the tables that the others run. */
import { BACKENDS } from '@inference-gateway/agent/backends/create-backend';
import { FINGERPRINTS } from '@inference-gateway/agent/backends/detection/fingerprints';
import { expect, test } from 'vitest';
import { startEveryServer } from '../../support/every-server.js';
import { KINDS } from './conformance-kinds.js';
import { MEDIA_KINDS } from './media-kinds.js';
import { VECTOR_KINDS } from './vector-kinds.js';

test('every backend has a row in a conformance suite', () => {
  const tested = new Set<string>(
    [...KINDS, ...MEDIA_KINDS, ...VECTOR_KINDS].map(({ backend }) => backend),
  );
  expect([...tested].toSorted()).toEqual([...BACKENDS].toSorted());
});

test('every fingerprint has a server that it is to tell from all others', async () => {
  const running = await startEveryServer();
  const named = new Set(running.map(({ is }) => is.server));
  named.delete('nothing');
  expect([...named].toSorted()).toEqual(FINGERPRINTS.map(({ server }) => server).toSorted());
});

// Who answers whose paths, as far as a naive look would be taken in.
test.each([
  ['KoboldCpp', ['/api/tags', '/api/ps', '/api/version', '/sdapi/v1/sd-models', '/v1/models']],
  ['KoboldCpp', ['/system_stats', '/object_info', '/prompt', '/history', '/props']],
  ['LocalAI', ['/', '/api/tags', '/api/ps', '/api/version']],
  ['LM Studio', ['/nothing', '/api/tags', '/health']],
  ['Lemonade', ['/api/tags', '/api/version']],
  ['speaches', ['/api/ps']],
  ['sd-server', ['/sdapi/v1/sd-models']],
  ['TabbyAPI', ['/props']],
  ['whisper-server', ['/health']],
  ['mlx-lm', ['/health']],
])('%s answers %j', async (name, paths) => {
  const running = await startEveryServer();
  const port = running.find((server) => server.name === name)?.port;
  for (const path of paths) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    expect(answer.status, path).toBe(200);
    await answer.body?.cancel();
  }
});
