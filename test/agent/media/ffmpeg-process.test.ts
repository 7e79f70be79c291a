import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runFfmpeg } from '@inference-gateway/agent/media/ffmpeg';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const LIMIT_MS = 60_000;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function script(text: string): Promise<{ folder: string; path: string }> {
  const folder = await temporaryFolder();
  const path = join(folder, 'ffmpeg');
  await writeFile(path, text, { mode: 0o755 });
  return { folder, path };
}

async function childOf(folder: string): Promise<number> {
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return pid;
}

test('where ffmpeg is a script, what it started is stopped with it', async () => {
  const { folder, path } = await script(
    '#!/bin/sh\nsleep 60 &\necho $! > pid.new; mv pid.new pid\nwait\n',
  );
  const leaving = new AbortController();
  const run = { path, args: [], folder, limitMs: LIMIT_MS, signal: leaving.signal };
  const outcome = runFfmpeg(run).catch((error: unknown) => error);
  await until(() => existsSync(join(folder, 'pid')));
  await childOf(folder);
  const at = performance.now();
  leaving.abort('canceled');
  expect(await outcome).toBe('canceled');
  // Sooner than any grace: what held the messages open is gone, too.
  expect(performance.now() - at).toBeLessThan(400);
});

test('a process that outlives it and holds its messages open does not hold it up', async () => {
  const { folder, path } = await script(`#!${process.execPath}
    const stdio = ['ignore', 'ignore', 'inherit'];
    const child = require('node:child_process').spawn('sleep', ['60'], { stdio, detached: true });
    require('node:fs').writeFileSync('pid', String(child.pid));
    child.unref();
  `);
  const { signal } = new AbortController();
  const at = performance.now();
  expect(await runFfmpeg({ path, args: [], folder, limitMs: LIMIT_MS, signal })).toBeNull();
  expect(performance.now() - at).toBeLessThan(4_000);
  expect(isAlive(await childOf(folder))).toBe(true);
});
