import { existsSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  openScratchFolder,
  sweepScratchFolders,
} from '@inference-gateway/agent/media/scratch-folder';
import { expect, onTestFinished, test } from 'vitest';

const MINUTE_MS = 60_000;
/** No process has so high a number, as none of this namespace has that of another one. */
const GONE_PID = 2 ** 30;

async function leave(pid: number, ageMs: number): Promise<string> {
  const path = join(tmpdir(), `gateway-agent-media-${pid}-left-${ageMs}`);
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await mkdir(path);
  await writeFile(join(path, 'input'), 'somebody’s voice');
  await grow(path, ageMs);
  return path;
}

async function grow(path: string, ageMs: number): Promise<void> {
  const then = new Date(Date.now() - ageMs);
  await utimes(path, then, then);
}

test('what was left behind an hour ago is removed, also if its number is used again', async () => {
  const left = [await leave(GONE_PID, 61 * MINUTE_MS), await leave(process.ppid, 61 * MINUTE_MS)];
  await sweepScratchFolders();
  expect(left.map((path) => existsSync(path))).toEqual([false, false]);
});

test('what may be in use stays, whether or not its process can be seen from here', async () => {
  const used = [await leave(GONE_PID, 59 * MINUTE_MS), await leave(process.pid, 59 * MINUTE_MS)];
  const own = await openScratchFolder();
  await grow(own.path, 61 * MINUTE_MS);
  await sweepScratchFolders();
  expect([...used, own.path].map((path) => existsSync(path))).toEqual([true, true, true]);
  await own.remove();
  expect(existsSync(own.path)).toBe(false);
});
