import { writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { probeHost } from '@inference-gateway/agent/hardware/probe';
import type { Gpu } from '@inference-gateway/agent/hardware/gpu-sample';
import { readSystemInformation, toGpu } from '@inference-gateway/agent/hardware/system-information';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { temporaryFolder } from '../../support/temporary-folder.js';

const logger = createLogger('silent');
const CARD: Gpu = { name: 'RTX', vendor: 'NVIDIA', vram_mib: 24564, driver: null };

test('the host is known at once, and its cards when they are found', async () => {
  const answers: ((gpus: Gpu[]) => void)[] = [];
  const probe = probeHost(logger, [() => new Promise((done) => answers.push(done))]);
  expect(probe.current()).toEqual({ os: platform(), arch: arch(), gpus: [] });
  answers[0]?.([CARD]);
  await probe.ready;
  expect(probe.current().gpus).toEqual([CARD]);
});

test('a source that fails or knows no card is followed by the next', async () => {
  const probe = probeHost(logger, [
    () => Promise.reject(new Error('no such program')),
    () => Promise.resolve([]),
    () => Promise.resolve([CARD]),
    () => Promise.resolve([{ ...CARD, name: 'never asked' }]),
  ]);
  await probe.ready;
  expect(probe.current().gpus).toEqual([CARD]);
});

test('where no source knows anything there is no card, and no error', async () => {
  const probe = probeHost(logger, [() => Promise.reject(new Error('none'))]);
  await probe.ready;
  expect(probe.current().gpus).toEqual([]);
});

test('no more cards are told than the link carries', async () => {
  const probe = probeHost(logger, [() => Promise.resolve(Array.from({ length: 40 }, () => CARD))]);
  await probe.ready;
  expect(probe.current().gpus).toHaveLength(32);
});

test('systeminformation answers from a process of its own', async () => {
  for (const gpu of await readSystemInformation()) {
    expect(Object.keys(gpu)).toEqual(['name', 'vendor', 'vram_mib', 'driver']);
  }
});

test('a process that hangs is given up after its time', async () => {
  const program = join(await temporaryFolder(), 'hangs.mjs');
  await writeFile(program, 'setInterval(() => {}, 1000);');
  await expect(readSystemInformation(program, 300)).rejects.toThrow('SIGKILL');
});

test('a process that ends without a word is no answer', async () => {
  const program = join(await temporaryFolder(), 'fails.mjs');
  await writeFile(program, 'process.exit(3);');
  await expect(readSystemInformation(program)).rejects.toThrow('ended with 3');
});

test('shared memory is not told as memory of the card', () => {
  const card = { vendor: 'Apple', model: 'Apple M3', vram: 8192, vramDynamic: false };
  expect(toGpu(card).vram_mib).toBeNull();
  expect(toGpu({ ...card, vendor: 'Intel', vramDynamic: true }).vram_mib).toBeNull();
  expect(toGpu({ ...card, vendor: '', model: ' ' })).toMatchObject({ name: null, vendor: null });
});
