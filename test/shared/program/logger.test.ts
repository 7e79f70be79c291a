import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger, logFile } from '@inference-gateway/shared/program/logger';
import { expect, it, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

/** What a record becomes in each format, when it goes to something that is no terminal. */
function written(...format: ['json' | 'pretty'] | []): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger('info', destination, ...format);
  logger.warn({ req: 'req_1', ms: 5 }, 'slow');
  logger.debug('not written');
  return lines.join('');
}

it('is JSON off a terminal, unless readable lines are asked for', () => {
  for (const text of [written(), written('json')]) {
    expect(JSON.parse(text)).toMatchObject({ level: 40, req: 'req_1', ms: 5, msg: 'slow' });
  }
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  expect(written('pretty')).toMatch(new RegExp(`^${time} WARN slow req="req_1" ms=5\n$`));
});

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
