/** The caller leaves: what the local server notices of it, and how soon its card is free. */
import { describe, expect, test } from 'vitest';
import { computing } from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { KINDS } from './conformance-kinds.js';
import { chat, startStage } from './conformance-stage.js';

/** Far longer than a test: whoever waits for it fails. */
const COMPUTES_MS = 30_000;
const NOTICED_WITHIN_MS = 1_000;

/** They look at the connection of a plain call late, or never: they are asked to stream. */
const FOLDED = [
  'llama-server',
  'llama-swap',
  'koboldcpp',
  'text-generation-webui',
  'lemonade',
  'jan',
  'mlx-lm',
];
const folded = KINDS.filter(({ backend }) => FOLDED.includes(backend));

describe.each(folded)('$name', (kind) => {
  test.each(['chat', 'completions'] as const)(
    'a plain call of %s ends with the token after its caller has left',
    async (endpoint) => {
      const behaviour = computing(COMPUTES_MS);
      const { backend } = await startStage(kind, { behaviour });
      const leaving = new AbortController();
      const fields = endpoint === 'chat' ? {} : { prompt: 'Go on.' };
      const call = { ...chat(fields), endpoint, signal: leaving.signal };
      const outcome = backend.call(call).catch((error: unknown) => error);
      await until(() => behaviour.computations.length === 1);
      const [computation] = behaviour.computations;
      const left = performance.now();
      leaving.abort('canceled');
      expect(await outcome).toBe('canceled');
      await until(() => computation?.endedAt !== null);
      expect(computation?.streamed).toBe(true);
      expect((computation?.endedAt ?? Infinity) - left).toBeLessThan(NOTICED_WITHIN_MS);
    },
  );

  test('what it does not stream as it answers plainly is asked for plainly', async () => {
    const { backend, fake } = await startStage(kind);
    const tools = [{ type: 'function', function: { name: 'f' } }];
    await backend.call(chat({ logprobs: true, tools }));
    expect(fake.lastRequest.body['stream']).not.toBe(true);
    expect(fake.lastRequest.body).not.toHaveProperty('stream_options');
  });
});
