import { expect, test } from 'vitest';
import { answer } from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { jobHome, letsIn } from './job-home.js';

test('drain waits for acknowledgements, the agent runs on, and resume ends it', async () => {
  const home = await jobHome();
  const { program, link } = await home.startAgent();
  home.server.behave(answer());
  link.open(1);
  await link.lastWord(1);
  const draining = home.run('drain');
  await letsIn(link, 'none');
  link.open(2);
  expect(await link.lastWord(2)).toMatchObject({ t: 'REJECT', reason: 'draining' });
  link.acknowledge('claim-1');
  const drained = await draining;
  expect(drained).toMatchObject({ code: 0, stdout: '' });
  expect(program.child.exitCode).toBeNull();
  await home.run('resume');
  await letsIn(link, 'all');
  link.open(3);
  expect(await link.lastWord(3)).toMatchObject({ t: 'END' });
});

test('what does not end in time makes drain exit 8, and nothing is let in still', async () => {
  const home = await jobHome();
  const { link } = await home.startAgent();
  link.open(1);
  await until(() => home.server.requests.length === 1);
  const { code, stderr } = await home.run('drain', '--timeout', '1s');
  expect(code).toBe(8);
  expect(stderr).toContain('1 running, 0 finished and not yet confirmed');
  expect((await home.run('status', '--json')).stdout).toContain('"accepts":"none"');
  expect(home.server.aborts).toEqual([]);
});

test('a drain ends with the agent', async () => {
  const home = await jobHome();
  const { program } = await home.startAgent();
  expect((await home.run('drain')).code).toBe(0);
  program.child.kill('SIGKILL');
  await program.finished;
  await home.startAgent();
  expect((await home.run('status', '--json')).stdout).toContain('"accepts":"all"');
});

test('drain without a running agent exits 9', async () => {
  const home = await jobHome();
  expect((await home.run('drain')).code).toBe(9);
});
