import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { answer, html500 } from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { resumeAll } from '../link/job-stage.js';
import { jobHome } from './job-home.js';
import type { JobHome } from './job-home.js';

const SYNC = { kind: 'sync', caller: { name: 'Ben', own: false } } as const;

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
  const facts = { service_id: 'llm-1', model: 'tiny', endpoint: 'chat', kind: 'job' };
  const amounts = { since: expect.any(Number), seconds: expect.any(Number), energy_wh: null };
  expect(await jobsOf(home)).toEqual([
    {
      ...facts,
      ...amounts,
      id: 'job-of-claim-1',
      job_id: 'job-of-claim-1',
      claim_id: 'claim-1',
      caller: 'Ben',
      own: false,
      phase: 'running',
      prompt_tokens: null,
      completion_tokens: null,
      bytes: 0,
    },
    {
      ...facts,
      ...amounts,
      id: 'job-of-claim-2',
      job_id: 'job-of-claim-2',
      claim_id: 'claim-2',
      caller: 'Anna',
      own: true,
      phase: 'spooled',
      prompt_tokens: 7,
      completion_tokens: 4,
      bytes: link.answer(2).length,
    },
  ]);
  const [first = ''] = (await home.run('jobs')).stdout.split('\n');
  const [id, kind, phase, since = '', model, endpoint, caller, own] = first.split('\t');
  expect([id, kind, phase]).toEqual(['job-of-claim-1', 'job', 'running']);
  expect([model, endpoint, caller, own]).toEqual(['tiny', 'chat', 'Ben', 'no']);
  expect(new Date(since).toISOString()).toBe(since);
});

test('a synchronous call is listed by its request, and gone when it is answered', async () => {
  const home = await jobHome();
  const { link } = await home.startAgent();
  link.open(1, SYNC);
  await until(() => home.server.requests.length === 1);
  expect(await jobsOf(home)).toMatchObject([
    { id: 'req_1', kind: 'sync', job_id: null, claim_id: null, phase: 'running', caller: 'Ben' },
  ]);
  home.server.behave(answer());
  link.open(2, { ...SYNC, model: 'tiny' });
  await link.lastWord(2);
  expect(await jobsOf(home)).toHaveLength(1);
});

test('no listing has a word of what was asked or answered', async () => {
  const home = await jobHome();
  home.server.behave(answer({ text: 'the answer is a secret' }));
  const { link, program } = await home.startAgent();
  const messages = [{ role: 'user', content: 'my question is a secret' }];
  link.open(1, {}, JSON.stringify({ model: 'tiny', messages }));
  await link.lastWord(1);
  const told = [await home.run('jobs', '--json'), await home.run('jobs', '--today', '--json')];
  link.acknowledge('claim-1');
  program.child.kill('SIGTERM');
  await program.finished;
  const kept = await readFile(`${home.stateDir}/today.json`, 'utf8');
  const all = [...told.map(({ stdout }) => stdout), kept, program.output.stderr].join('');
  expect(all).toContain('Anna');
  expect(all).not.toContain('secret');
});

test("today's totals count by caller and model, and outlive the agent", async () => {
  const home = await jobHome();
  home.server.behave(answer());
  const { program, link } = await home.startAgent();
  link.open(1, SYNC);
  link.open(2);
  await Promise.all([link.lastWord(1), link.lastWord(2)]);
  link.acknowledge('claim-2');
  home.server.behave(html500());
  link.open(3, SYNC);
  await link.lastWord(3);
  program.child.kill('SIGTERM');
  await program.finished;
  home.server.behave(answer());
  const { link: next } = await home.startAgent();
  next.open(1, SYNC);
  await next.lastWord(1);
  const ben = { caller: 'Ben', own: false, model: 'tiny', energy_wh: null };
  const today = await todayOf(home);
  expect(today).toHaveLength(2);
  expect(today).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...ben, requests: 3, failed: 1, prompt_tokens: 14 }),
      expect.objectContaining({ caller: 'Anna', own: true, requests: 1, completion_tokens: 4 }),
    ]),
  );
  const { stdout } = await home.run('status');
  expect(stdout).toMatch(/^today +4 requests, 1 failed, 21 tokens in, 12 tokens out, \d+ s$/m);
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

test.each(['jobs', 'jobs --today'])('%s without a running agent exits 9', async (line) => {
  const home = await jobHome();
  expect((await home.run(...line.split(' '), '--json')).code).toBe(9);
});

async function todayOf(home: JobHome): Promise<unknown> {
  return JSON.parse((await home.run('jobs', '--today', '--json')).stdout);
}

function spoolOf({ stateDir }: JobHome): Promise<string[]> {
  return readdir(`${stateDir}/spool`);
}
