import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  findAmdCards,
  readAmdCards,
  readAmdLoad,
  DrmClients,
  parseClient,
} from '@inference-gateway/agent/hardware/amd';
import type { GpuSample } from '@inference-gateway/agent/hardware/gpu-sample';
import { watchGpus } from '@inference-gateway/agent/hardware/gpu-watch';
import { until } from '../../support/until.js';
import { CARD, clientFiles, fakeAmd, writeFiles } from './fake-amd.js';

const noName = () => Promise.resolve([]);

test('the card of the right maker is found, with its load', async () => {
  const root = await fakeAmd();
  const [card = '', ...others] = await findAmdCards(root);
  expect(others).toEqual([]);
  expect(await readAmdLoad(card)).toEqual({
    usePercent: 63,
    memoryUsedMib: 1024,
    temperatureC: 58.5,
    powerWatts: 187,
  });
});

test('what the driver does not tell is null, and the input stands in for the mean', async () => {
  const root = await fakeAmd({ [`${CARD}/hwmon/hwmon4/power1_input`]: '9500000\n' });
  await rm(join(root, CARD, 'gpu_busy_percent'));
  await rm(join(root, CARD, 'hwmon/hwmon4/power1_average'));
  await rm(join(root, CARD, 'hwmon/hwmon4/temp1_input'));
  expect(await readAmdLoad(join(root, CARD))).toEqual({
    usePercent: null,
    memoryUsedMib: 1024,
    temperatureC: null,
    powerWatts: 9.5,
  });
});

test('a card that sleeps is not woken', async () => {
  const root = await fakeAmd({ [`${CARD}/power/runtime_status`]: 'suspended\n' });
  const asleep = { usePercent: 0, memoryUsedMib: null, temperatureC: null, powerWatts: null };
  expect(await readAmdLoad(join(root, CARD))).toEqual(asleep);
});

test('HELLO is told the memory of the kernel and the name of lspci', async () => {
  const root = await fakeAmd();
  const gpu = { vram_mib: null, driver: null };
  const others = [
    { ...gpu, name: 'UHD 770', vendor: 'Intel Corporation' },
    { ...gpu, name: 'Navi 31', vendor: 'Advanced Micro Devices, Inc. [AMD/ATI]' },
  ];
  const card = { vendor: 'AMD', vram_mib: 16368, driver: null };
  expect(await readAmdCards(root, () => Promise.resolve(others))).toEqual([
    { ...card, name: 'Navi 31' },
  ]);
  expect(await readAmdCards(root, noName)).toEqual([{ ...card, name: null }]);
  await writeFiles(root, { [`${CARD}/product_name`]: 'Instinct MI210\n' });
  expect((await readAmdCards(root, noName))[0]?.name).toBe('Instinct MI210');
});

test('a machine without such a card asks nobody for its name', async () => {
  const root = await fakeAmd();
  await writeFile(join(root, CARD, 'vendor'), '0x10de\n');
  expect(await readAmdCards(root, () => Promise.reject(new Error('asked')))).toEqual([]);
});

test('a process is told by its memory, and by its use from the second time on', async () => {
  const root = await fakeAmd(clientFiles(42, 'game', { kib: 2_097_152, busyNs: 1_000 }));
  const clients = new DrmClients(root);
  expect(await clients.sample()).toEqual([
    { pid: 42, name: 'game', usePercent: null, memoryMib: 2048 },
  ]);
  const busy = clientFiles(42, 'game', { kib: 2_097_152, busyNs: 10 ** 12 });
  await writeFile(join(root, 'proc/42/fdinfo/3'), busy['proc/42/fdinfo/3'] ?? '');
  await writeFile(join(root, 'proc/42/fdinfo/4'), busy['proc/42/fdinfo/4'] ?? '');
  expect((await clients.sample())?.[0]?.usePercent).toBe(100);
});

test('a process that comes later is seen the next time', async () => {
  const root = await fakeAmd({ 'proc/7/comm': 'sh\n', 'proc/7/fd/0': '->/dev/null' });
  const clients = new DrmClients(root);
  expect(await clients.sample()).toEqual([]);
  await writeFiles(root, clientFiles(42, 'game', { kib: 1024, busyNs: 0 }));
  expect((await clients.sample())?.map(({ pid }) => pid)).toEqual([42]);
});

test.runIf(process.getuid?.() !== 0)('where nothing may be looked at it is not known', async () => {
  const root = await fakeAmd(clientFiles(42, 'game', { kib: 1024, busyNs: 0 }));
  const folder = join(root, 'proc/42/fd');
  await chmod(folder, 0);
  onTestFinished(() => chmod(folder, 0o700));
  expect(await new DrmClients(root).sample()).toBeNull();
});

test.each([
  ['another driver', 'drm-driver:\ti915\ndrm-client-id:\t7\n'],
  ['an ordinary file', 'pos:\t0\nflags:\t02\n'],
  ['nothing', ''],
])('%s is no client', (_, text) => {
  expect(parseClient(text)).toBeNull();
});

test.each([
  ['544428 KiB', 544_428],
  ['22 MiB', 22_528],
  ['1048576', 1_024],
])('a memory of %j are %d KiB', (memory, memoryKib) => {
  const text = `drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-resident-vram:\t${memory}\n`;
  expect(parseClient(text)?.memoryKib).toBe(memoryKib);
});

test('without nvidia-smi the watch tells of AMD', async () => {
  const root = await fakeAmd(clientFiles(42, 'game', { kib: 2048, busyNs: 0 }));
  const watch = watchGpus({ nvidiaSmi: join(root, 'none'), root, platform: 'linux' });
  onTestFinished(() => watch.close());
  const samples: GpuSample[] = [];
  watch.onSample((sample) => samples.push(sample));
  await until(() => samples.at(-1)?.processes?.[0]?.usePercent === 0);
  expect(samples[0]?.cards[0]?.usePercent).toBe(63);
  expect(samples.at(-1)?.processes).toEqual([
    { pid: 42, name: 'game', usePercent: 0, memoryMib: 2 },
  ]);
});
