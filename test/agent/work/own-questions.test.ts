/** The agent's own questions to a model use the card, and do not count as another program's use. */
import { Agent } from '@inference-gateway/agent/agent';
import type { GpuSample } from '@inference-gateway/agent/hardware/gpu-sample';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { answer } from '../../support/fake-behaviours.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { until } from '../../support/until.js';

/** For how long the card's load may still show work that has ended. */
const LAG_MS = 2_000;
const GAME_MODE = {
  enabled: true,
  running: 'yield',
  memoryMib: 512,
  usePercent: 20,
  ignore: [],
} as const;

/** An agent whose card is the test's to move, and which never finds its coordinator. */
async function agentWithCard() {
  const server = await startFakeOpenAi({ behaviour: answer() });
  const listeners = new Set<(sample: GpuSample) => void>();
  const onSample = (listener: (sample: GpuSample) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const agent = new Agent({
    url: 'http://127.0.0.1:1',
    token: 'gwa_test',
    name: null,
    services: [configuredServer(server.baseUrl, { prove: true })],
    host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
    logger: createLogger('silent'),
    once: false,
    gpu: { latest: null, onSample, close: () => {} },
    gameMode: GAME_MODE,
  });
  void agent.start();
  onTestFinished(async () => {
    await agent.drain();
    await server.close();
  });
  /** Three samples of a loaded card, reported after that time. */
  const loadAfter = async (ms: number): Promise<void> => {
    for (let count = 0; count < 3; count++) {
      const cards = [{ usePercent: 90, memoryUsedMib: null, temperatureC: null, powerWatts: null }];
      for (const tell of listeners) tell({ at: performance.now() + ms, cards, processes: null });
      await setImmediate();
    }
  };
  return { agent, server, loadAfter };
}

test('a load that is told right after a model was tested is of the test', async () => {
  const { agent, loadAfter } = await agentWithCard();
  const wanted = { model: null, service: null, limitMs: null };
  await until(() => agent.status().services[0]?.models.length === 1);
  // Of an agent that has just begun nothing is known, either.
  await until(() => performance.now() > LAG_MS + 500);
  expect(await agent.test(wanted)).toMatchObject({ ok: true });
  await loadAfter(0);
  expect(agent.status().ownerReason).toBeNull();
  await loadAfter(LAG_MS + 100);
  expect(agent.status().ownerReason).toEqual({ kind: 'card_in_use', program: null });
});
