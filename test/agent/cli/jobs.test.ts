import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { answer } from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { resumeAll } from '../connection/job-stage.js';
import { jobHome } from './job-home.js';
import type { JobHome } from './job-home.js';

async function jobsOf(home: JobHome): Promise<unknown> {
  return JSON.parse((await home.run('jobs', '--json')).stdout);
}

test('jobs lists what runs and what waits to be fetched', async () => {
  const home = await jobHome();
  const { link } = await home.startAgent();
  expect(await jobsOf(home)).toEqual([]);
  link.open(1, { caller: { name: 'Ben', own: false } });
  await until(() => home.server.requests.length === 1);
  home.server.behave(answer());
  link.open(2);
  await link.lastWord(2);
  const facts = { model: 'tiny', endpoint: 'chat', since: expect.any(Number) };
  expect(await jobsOf(home)).toEqual([
    {
      ...facts,
      job_id: 'job-of-claim-1',
      claim_id: 'claim-1',
      caller: 'Ben',
      own: false,
      phase: 'running',
      bytes: 0,
    },
    {
      ...facts,
      job_id: 'job-of-claim-2',
      claim_id: 'claim-2',
      caller: 'Anna',
      own: true,
      phase: 'spooled',
      bytes: link.answer(2).length,
    },
  ]);
  const [first = ''] = (await home.run('jobs')).stdout.split('\n');
  const [id, phase, , model, endpoint, caller, own, bytes] = first.split('\t');
  expect([id, phase, model, endpoint]).toEqual(['job-of-claim-1', 'running', 'tiny', 'chat']);
  expect([caller, own, bytes]).toEqual(['Ben', 'false', '0']);
});

test('a result outlives a kill of the agent, and is uploaded by the next', async () => {
  const home = await jobHome();
  home.server.behave(answer({ text: 'all well' }));
  const { program, link } = await home.startAgent();
  link.open(1);
  await link.lastWord(1);
  await until(async () => (await spoolOf(home)).some((name) => name.endsWith('.json')));
  program.child.kill('SIGKILL');
  await program.finished;
  home.coordinator.decide = resumeAll('upload');
  const next = await home.startAgent();
  await next.link.lastWord(101);
  expect(next.link.answer(101)).toBe(link.answer(1));
  expect(await jobsOf(home)).toMatchObject([{ claim_id: 'claim-1', phase: 'spooled' }]);
});

test('jobs without a running agent exits 9', async () => {
  const home = await jobHome();
  expect((await home.run('jobs', '--json')).code).toBe(9);
});

function spoolOf({ stateDir }: JobHome): Promise<string[]> {
  return readdir(`${stateDir}/spool`);
}
