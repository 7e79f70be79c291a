import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { logFile } from '@inference-gateway/shared/program/logger';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const LINE = `${'x'.repeat(99)}\n`;

test('lines are added behind an earlier process’s, for the owner’s eyes alone', async () => {
  const file = join(await temporaryFolder(), 'state', 'agent.log');
  logFile(file).write('first\n');
  await until(async () => (await textOf(file)) === 'first\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  logFile(file).write('second\n');
  await until(async () => (await textOf(file)) === 'first\nsecond\n');
});

test('a full file makes way for a new one, and only the last of them stays', async () => {
  const file = join(await temporaryFolder(), 'agent.log');
  const log = logFile(file, 1_000);
  for (let line = 0; line < 35; line++) {
    log.write(LINE);
    // Waits until each file is open before it writes the next line.
    await until(async () => (await textOf(file)).length === ((line % 10) + 1) * 100);
  }
  expect(await textOf(file)).toBe(LINE.repeat(5));
  expect(await textOf(`${file}.1`)).toBe(LINE.repeat(10));
});

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
