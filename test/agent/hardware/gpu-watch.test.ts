import { existsSync } from 'node:fs';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchGpus } from '@inference-gateway/agent/hardware/gpu-watch';
import { SAMPLE_MS } from '@inference-gateway/agent/hardware/gpu-sample';
import type { GpuSample } from '@inference-gateway/agent/hardware/gpu-sample';
import { fakeNvidiaSmi } from '../../support/fake-nvidia-smi.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { fakeAmd } from './fake-amd.js';

type Options = NonNullable<Parameters<typeof watchGpus>[0]>;

/** Longer than from one sample to the next, and from one start to another. */
const MISSING_MS = 800;

/** A watch of an empty machine, and its samples. */
async function watched(options: Options) {
  const watch = watchGpus({ root: await temporaryFolder(), ...options });
  onTestFinished(() => watch.close());
  const samples: GpuSample[] = [];
  watch.onSample((sample) => samples.push(sample));
  return { watch, samples };
}

async function fakeTool(script: string): Promise<string> {
  const file = join(await temporaryFolder(), 'tool');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

/** The processes that the script has noted, one a line. */
async function notedIn(file: string): Promise<number[]> {
  return (await readFile(file, 'utf8')).trim().split('\n').map(Number);
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('cards and processes are sampled again and again, the last one at hand', async () => {
  const smi = await fakeNvidiaSmi();
  await smi.load(7);
  await smi.run({ pid: 4810, name: 'game', usePercent: 31, memoryMib: 743 });
  const { watch, samples } = await watched({ nvidiaSmi: smi.command });
  expect(watch.latest).toBeNull();
  const full = await until(() => samples.find(({ processes }) => processes !== null));
  expect(full.cards).toEqual([
    { usePercent: 7, memoryUsedMib: 300, temperatureC: 41, powerWatts: 25.5 },
  ]);
  expect(full.processes).toEqual([{ pid: 4810, name: 'game', usePercent: 31, memoryMib: 743 }]);
  await smi.load(50);
  await smi.run();
  await until(() => samples.at(-1)?.cards[0]?.usePercent === 50);
  await until(() => samples.at(-1)?.processes?.length === 0);
  expect(watch.latest).toBe(samples.at(-1));
});

test('a program on several cards counts once, with the sum of both', async () => {
  const { samples } = await watched({
    nvidiaSmi: await fakeTool(`case "$*" in
      pmon*)
        echo "# gpu pid type fb sm command"
        echo "0 9 G 100 - game"; echo "1 9 G 50 4 game"; echo "1 8 C - - x" ;;
      *) echo "0, 1, 2, 3, 4"; echo "1, 4, 5, 6, 7" ;;
    esac`),
  });
  const { cards, processes } = await until(() => samples.find((one) => one.processes !== null));
  expect(cards.map(({ usePercent }) => usePercent)).toEqual([1, 4]);
  expect(processes).toEqual([
    { pid: 9, name: 'game', usePercent: 4, memoryMib: 150 },
    { pid: 8, name: 'x', usePercent: null, memoryMib: null },
  ]);
});

test('one that prints and ends is asked again', async () => {
  const starts = join(await temporaryFolder(), 'starts');
  const nvidiaSmi = await fakeTool(`case "$*" in
    pmon*) echo "# gpu pid type fb sm command"; echo "0 9 G 100 4 game" ;;
    *) echo $$ >> ${starts}; echo "0, 1, 2, 3, 4" ;;
  esac`);
  const startedAt = performance.now();
  const { samples } = await watched({ nvidiaSmi });
  await until(() => samples.length >= 4);
  expect(samples.at(-1)?.processes).toEqual([
    { pid: 9, name: 'game', usePercent: 4, memoryMib: 100 },
  ]);
  const { length: count } = await notedIn(starts);
  const elapsedMs = performance.now() - startedAt;
  // After a slow one it waits for a quarter of the interval.
  expect(count).toBeLessThanOrEqual(1 + elapsedMs / (SAMPLE_MS / 4));
  expect(count).toBeGreaterThan(1);
});

test('a version that knows no loop is asked without one', async () => {
  const nvidiaSmi = await fakeTool(`case "$*" in
    *-lms*|*-d*) echo "Option is not recognized."; exit 2 ;;
    pmon*) exit 3 ;;
    *) echo "0, 1, 2, 3, 4" ;;
  esac`);
  const { samples } = await watched({ nvidiaSmi });
  await until(() => samples.length >= 2);
  // Of processes it knows nothing at all.
  expect(samples.at(-1)?.processes).toBeNull();
});

test('one that falls silent is killed and started anew, and another one never blocks', async () => {
  const folder = await temporaryFolder();
  const nvidiaSmi = await fakeTool(
    `case "$*" in pmon*) exit 1 ;; esac\ntrap "" TERM\necho $$ >> ${folder}/pids\nexec sleep 3`,
  );
  let longestMs = 0;
  let lastAt = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastAt);
    lastAt = performance.now();
  }, 5);
  onTestFinished(() => clearInterval(timer));
  await watched({ nvidiaSmi, silenceMs: 300 });
  await until(() => existsSync(`${folder}/pids`));
  const pids = await until(async () => {
    const noted = await notedIn(`${folder}/pids`);
    return noted.length >= 2 ? noted : null;
  });
  expect(lives(pids[0] ?? 0)).toBe(false);
  expect(longestMs).toBeLessThan(1_000);
});

test('one that goes on without telling anything, as of a lost card, is started anew', async () => {
  const folder = await temporaryFolder();
  const nvidiaSmi = await fakeTool(`case "$*" in pmon*) exit 1 ;; esac
    echo $$ >> ${folder}/pids; echo "0, 1, 2, 3, 4"
    while :; do echo "Unable to determine the device handle"; sleep 0.1; done`);
  await watched({ nvidiaSmi, silenceMs: 300 });
  await until(() => existsSync(`${folder}/pids`));
  await until(async () => (await notedIn(`${folder}/pids`)).length >= 2);
});

test('one whose loop was broken off goes on with the loop', async () => {
  const folder = await temporaryFolder();
  const nvidiaSmi = await fakeTool(`case "$*" in pmon*) exit 1 ;; esac
    echo "$*" >> ${folder}/asked; echo "0, 1, 2, 3, 4"; exit 15`);
  const { samples } = await watched({ nvidiaSmi });
  await until(() => samples.length >= 2);
  const asked = (await readFile(`${folder}/asked`, 'utf8')).trim().split('\n');
  expect(asked.every((args) => args.includes('-lms'))).toBe(true);
});

test('one that was too busy for its loop is asked with it again', async () => {
  const folder = await temporaryFolder();
  const nvidiaSmi = await fakeTool(`case "$*" in
    pmon*) exit 1 ;;
    *-lms*) [ -e ${folder}/tried ] || { touch ${folder}/tried; exit 15; }
      echo "0, 50, 2, 3, 4"; exec sleep 30 ;;
    *) echo "0, 1, 2, 3, 4" ;;
  esac`);
  const { samples } = await watched({ nvidiaSmi, loopAgainMs: 100 });
  await until(() => samples.some(({ cards }) => cards[0]?.usePercent === 1));
  await until(() => samples.at(-1)?.cards[0]?.usePercent === 50);
});

test('one that goes away for a while, as in an update of the driver, is asked again', async () => {
  const folder = await temporaryFolder();
  const nvidiaSmi = await fakeTool(`case "$*" in pmon*) exit 1 ;; esac; cat ${folder}/cards`);
  await writeFile(`${folder}/cards`, '0, 1, 2, 3, 4\n');
  const { samples } = await watched({ nvidiaSmi });
  await until(() => samples.length > 0);
  await rename(nvidiaSmi, `${nvidiaSmi}.old`);
  await until(() => performance.now() - (samples.at(-1)?.at ?? 0) > MISSING_MS);
  await writeFile(`${folder}/cards`, '0, 50, 2, 3, 4\n');
  await rename(`${nvidiaSmi}.old`, nvidiaSmi);
  await until(() => samples.at(-1)?.cards[0]?.usePercent === 50);
});

test('what stood in for it is let go once it tells something', async () => {
  const folder = await temporaryFolder();
  const nvidiaSmi = await fakeTool(`case "$*" in pmon*) exit 1 ;; esac
    [ -e ${folder}/awake ] || exit 9
    while :; do echo "0, 50, 2, 3, 4"; sleep 0.1; done`);
  const { samples } = await watched({ nvidiaSmi, root: await fakeAmd() });
  await until(() => samples.at(-1)?.cards[0]?.usePercent === 63);
  await writeFile(`${folder}/awake`, '');
  const first = await until(() => samples.find(({ cards }) => cards[0]?.usePercent === 50));
  const since = samples.indexOf(first);
  await until(() => samples.length > since + 10);
  expect(samples.slice(since).every(({ cards }) => cards[0]?.usePercent === 50)).toBe(true);
});

test('closing it ends what it has started, and it tells nothing more', async () => {
  const folder = await temporaryFolder();
  const nvidiaSmi = await fakeTool(
    `echo $$ >> ${folder}/pids
    case "$*" in pmon*) ;; *) echo "0, 1, 2, 3, 4" ;; esac
    exec sleep 30`,
  );
  const { watch, samples } = await watched({ nvidiaSmi });
  await until(() => samples.length > 0);
  const pids = await until(async () => {
    const noted = await notedIn(`${folder}/pids`);
    return noted.length === 2 ? noted : null;
  });
  watch.close();
  await until(() => !pids.some(lives));
  expect(samples).toHaveLength(1);
});

test('a machine that tells nothing is no error', async () => {
  const missing = join(await temporaryFolder(), 'none');
  const { watch } = await watched({ nvidiaSmi: missing, ioreg: missing, platform: 'darwin' });
  const { watch: other } = await watched({ nvidiaSmi: missing, platform: 'win32' });
  const smi = await fakeNvidiaSmi();
  const { samples } = await watched({ nvidiaSmi: smi.command });
  await until(() => samples.length >= 2);
  expect([watch.latest, other.latest]).toEqual([null, null]);
});

test('Apple tells the use of the card, and nothing of processes', async () => {
  const ioreg = await fakeTool(
    `echo '  "PerformanceStatistics" = {"In use system memory"=1073741824,\
"Device Utilization %"=42}'`,
  );
  const nvidiaSmi = join(await temporaryFolder(), 'none');
  const { samples } = await watched({ nvidiaSmi, ioreg, platform: 'darwin' });
  await until(() => samples.length >= 2);
  expect(samples[0]).toMatchObject({
    cards: [{ usePercent: 42, memoryUsedMib: 1024, temperatureC: null, powerWatts: null }],
    processes: null,
  });
});
