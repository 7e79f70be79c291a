import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile, spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { until } from '../../../support/until.js';

const MODULE = import.meta.resolve('@inference-gateway/shared/program/daemon/show-log-file');

function script(file: string, query: object): readonly string[] {
  const call = `showLogFile(${JSON.stringify(file)}, ${JSON.stringify(query)})`;
  return ['--input-type=module', '-e', `import { showLogFile } from '${MODULE}'; await ${call};`];
}

function shown(file: string, query: object): Promise<{ stdout: string; stderr: string }> {
  return new Promise((done) => {
    execFile(process.execPath, script(file, query), (_error, stdout, stderr) =>
      done({ stdout, stderr }),
    );
  });
}

test('the last lines are shown', async () => {
  const file = join(await temporaryFolder(), 'agent.log');
  await writeFile(file, 'one\ntwo\nthree\n');
  expect((await shown(file, { lines: 2, follow: false })).stdout).toBe('two\nthree\n');
  expect((await shown(file, { lines: 9, follow: false })).stdout).toBe('one\ntwo\nthree\n');
});

test('no log yet is told', async () => {
  const file = join(await temporaryFolder(), 'agent.log');
  expect((await shown(file, { lines: 2, follow: false })).stderr).toContain('there is no log at');
});

test('what comes is followed, into the next file, too', async () => {
  const file = join(await temporaryFolder(), 'agent.log');
  await writeFile(file, 'a long first line\n');
  const following = spawn(process.execPath, script(file, { lines: 1, follow: true }));
  onTestFinished(() => void following.kill());
  let seen = '';
  following.stdout.on('data', (bytes: Buffer) => (seen += bytes.toString()));
  await until(() => seen === 'a long first line\n');
  await appendFile(file, 'second\n');
  await until(() => seen.endsWith('second\n'));
  await writeFile(file, 'new\n');
  await until(() => seen === 'a long first line\nsecond\nnew\n');
});
