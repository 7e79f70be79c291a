import type { AgentOptions } from '@inference-gateway/agent/agent';
import { watchGpus } from '@inference-gateway/agent/hardware/gpu-watch';
import { expect, onTestFinished, test } from 'vitest';
import { fakeNvidiaSmi } from '../../support/fake-nvidia-smi.js';
import { until } from '../../support/until.js';
import { jobStage } from './job-stage.js';

/** The interval that the coordinator asks for. */
const HEARTBEAT_MS = 15_000;
const CARD = { name: 'Fake RTX', vendor: 'NVIDIA', vram_mib: 24_564, driver: null };
const host: AgentOptions['host'] = () => ({ os: 'linux', arch: 'x64', gpus: [CARD] });

test('every heartbeat tells what the card does then, and nothing of its programs', async () => {
  const smi = await fakeNvidiaSmi();
  await smi.load(63);
  await smi.run({ pid: 4810, name: 'secret-game', usePercent: 31, memoryMib: 743 });
  const gpu = watchGpus({ nvidiaSmi: smi.command });
  onTestFinished(() => gpu.close());
  await until(() => gpu.latest?.processes?.length === 1);
  const { coordinator, startAgent } = await jobStage();
  const agent = await startAgent({ gpu, host });
  const [link] = coordinator.links;
  // A change of the accepted work is reported immediately.
  await agent.owner.pause({ until: null, now: false });
  const first = await until(() => link?.all('HEARTBEAT').at(-1));
  const reading = { memory_used_mib: 300, temperature_c: 41, power_watts: 25.5 };
  expect(first.gpus).toEqual([{ use_percent: 63, ...reading }]);
  await smi.load(7);
  await until(() => gpu.latest?.cards[0]?.usePercent === 7);
  await agent.owner.resume();
  await until(() => link?.all('HEARTBEAT').at(-1)?.gpus?.[0]?.use_percent === 7);
  expect(JSON.stringify(link?.messages)).not.toMatch(/secret-game|4810/);
});

test('the load is told when the agent connects, without waiting for the interval', async () => {
  const smi = await fakeNvidiaSmi();
  await smi.load(63);
  const gpu = watchGpus({ nvidiaSmi: smi.command });
  onTestFinished(() => gpu.close());
  await until(() => gpu.latest !== null);
  const { coordinator, startAgent } = await jobStage();
  await startAgent({ gpu, host });
  const first = () => coordinator.links[0]?.all('HEARTBEAT').at(0);
  const beat = await until(first, { timeoutMs: HEARTBEAT_MS / 2 });
  expect(beat.gpus?.[0]?.use_percent).toBe(63);
});

test('an agent without a watch leaves it out', async () => {
  const { coordinator, startAgent } = await jobStage();
  const agent = await startAgent({ host });
  await agent.owner.pause({ until: null, now: false });
  const beat = await until(() => coordinator.links[0]?.all('HEARTBEAT').at(-1));
  expect(beat).not.toHaveProperty('gpus');
});
