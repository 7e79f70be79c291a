import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readNvidiaSmi } from '@inference-gateway/agent/hardware/nvidia';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** An executable that replaces nvidia-smi. */
async function fakeTool(script: string): Promise<string> {
  const file = join(await temporaryFolder(), 'nvidia-smi');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

async function gpusOf(script: string, timeoutMs = 5_000) {
  return readNvidiaSmi({ command: await fakeTool(script), timeoutMs });
}

const RTX = 'GPU-1, NVIDIA GeForce RTX 4090, 24564, 300, 0, 550.54.14, 8.9';

test('each line is a card with its name, memory and driver', async () => {
  const gpus = await gpusOf(`echo "0, ${RTX}"; echo "1, ${RTX}"`);
  const card = {
    name: 'NVIDIA GeForce RTX 4090',
    vendor: 'NVIDIA',
    vram_mib: 24564,
    driver: '550.54.14',
  };
  expect(gpus).toEqual([card, card]);
});

test('an H100 is described as its driver tells it', async () => {
  const gpus = await gpusOf('echo "0, GPU-1, NVIDIA H100 80GB HBM3, 81559, 0, 0, 580.159.04, 9.0"');
  const card = { name: 'NVIDIA H100 80GB HBM3', vram_mib: 81_559, driver: '580.159.04' };
  expect(gpus).toEqual([{ ...card, vendor: 'NVIDIA' }]);
});

test('it is asked for exactly the fields that are read', async () => {
  const file = join(await temporaryFolder(), 'args');
  await gpusOf(`echo "$@" > ${file}`);
  expect(await readFile(file, 'utf8')).toBe(
    '--query-gpu=index,uuid,name,memory.total,memory.used,utilization.gpu,driver_version,' +
      'compute_cap --format=csv,noheader,nounits\n',
  );
});

test('what the card does not tell is null, as on cards that share the memory', async () => {
  const gpus = await gpusOf(
    'echo "0, GPU-1, NVIDIA GB10, [N/A], [N/A], [Unknown Error], [Not Supported], 12.1"',
  );
  expect(gpus).toEqual([{ name: 'NVIDIA GB10', vendor: 'NVIDIA', vram_mib: null, driver: null }]);
});

test.each([
  ['an error text', 'echo "NVIDIA-SMI has failed because it could not talk to the driver."'],
  ['fewer fields', 'echo "0, GPU-1, RTX"'],
  ['bytes that are no text', String.raw`printf '\377\376,,\000\n'`],
  ['nothing', ':'],
])('%s is no card', async (_, script) => {
  expect(await gpusOf(script)).toEqual([]);
});

test('a number that is none is unknown', async () => {
  const gpus = await gpusOf('echo "0, GPU-1, RTX, lots, 1, 1, 550, 8.9"');
  expect(gpus[0]?.vram_mib).toBeNull();
});

test('a tool that fails, is missing, or talks without end is no answer', async () => {
  await expect(gpusOf('echo "0, GPU"; exit 9')).rejects.toThrow();
  await expect(gpusOf('yes "0, some card"')).rejects.toThrow('maxBuffer');
  await expect(
    readNvidiaSmi({ command: join(await temporaryFolder(), 'none'), timeoutMs: 5_000 }),
  ).rejects.toThrow('ENOENT');
});

test('a tool that hangs is given up after its time, and ended', async () => {
  const startedAt = performance.now();
  await expect(gpusOf('trap "" TERM; exec sleep 30', 200)).rejects.toThrow();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
