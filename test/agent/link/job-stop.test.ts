/** What ends a job before its answer: the coordinator, the owner, or the end of the agent. */
import { readdir } from 'node:fs/promises';
import { Agent } from '@inference-gateway/agent/agent';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import { describe, expect, test } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { answer, hangBeforeHeaders } from '../../support/fake-behaviours.js';
import type { Behaviour } from '../../support/fake-model-server.js';
import { until } from '../../support/until.js';
import { heldModel, holdsNothing, jobStage, resumeAll } from './job-stage.js';
import { BODY, STREAMED_BODY } from './scripted-coordinator.js';

/** A job on stream 1 of the first link that the local server has been asked for. */
async function runningJob(changes: { own?: boolean; heartbeatS?: number } = {}) {
  const stage = await jobStage(hangBeforeHeaders());
  stage.coordinator.heartbeatS = changes.heartbeatS ?? 15;
  const agent = await stage.startAgent();
  const link = await stage.coordinator.link(0);
  link.open(1, { caller: { name: 'Ben', own: changes.own ?? true } });
  await until(() => stage.server.requests.length === 1);
  return { ...stage, agent, link };
}

describe('a reset of the coordinator', () => {
  test('aborts the local request, and its last word is CANCELED', async () => {
    const { agent, link, server } = await runningJob();
    link.send({ t: 'RESET', stream: 1, code: 'CANCELED' });
    expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'CANCELED' });
    await until(() => server.aborts.length === 1);
    expect(agent.owner.jobs()).toEqual([]);
    await until(() => agent.status().running === 0);
  });

  test('ends an answer that waits for credit, and nothing of it is kept', async () => {
    const rest = Array.from({ length: 2_000 }, () => 'x'.repeat(500));
    const model = heldModel(rest);
    model.goOn();
    const { coordinator, startAgent, spoolDir } = await jobStage(model.behaviour);
    const agent = await startAgent();
    const link = await coordinator.link(0);
    link.grants = false;
    link.open(1, {}, STREAMED_BODY);
    await until(() => agent.owner.jobs()[0]?.phase === 'spooled');
    link.send({ t: 'RESET', stream: 1, code: 'CANCELED' });
    expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'CANCELED' });
    expect(agent.owner.jobs()).toEqual([]);
    await until(async () => (await readdir(spoolDir)).length === 0);
  });

  test.each<[string, Behaviour, string]>([
    ['END', answer(), 'END'],
    ['RESET', (_request, response) => void response.destroy(), 'RESET'],
  ])(
    'that crosses the last word, %s, ends the claim, and is not answered',
    async (_, act, last) => {
      const { coordinator, startAgent } = await jobStage(act);
      const agent = await startAgent();
      const link = await coordinator.link(0);
      link.open(1);
      await link.lastWord(1);
      link.send({ t: 'RESET', stream: 1, code: 'CANCELED' });
      await holdsNothing(agent);
      link.open(2);
      await link.lastWord(2);
      expect(link.said(1).map(({ t }) => t)).toEqual(link.said(2).map(({ t }) => t));
      expect(link.said(1).at(-1)?.t).toBe(last);
    },
  );
});

test('a claim that is lost is given up; one that is finished waits for its word', async () => {
  const { agent, link, server } = await runningJob({ heartbeatS: 0.05 });
  server.behave((_request, response) => void response.destroy());
  link.open(2);
  await link.lastWord(2);
  const lost = ['claim-1', 'claim-2', 'claim-3'];
  link.send({ t: 'HEARTBEAT_OK', seq: 1, lost_claims: lost });
  await until(() => server.aborts.length === 1);
  expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'CANCELED' });
  expect(agent.owner.jobs().map(({ claimId }) => claimId)).toEqual(['claim-2']);
  // Beats before it held the first claim, alone or with the second.
  const told = link.all('HEARTBEAT').length;
  const beat = await until(() => link.all('HEARTBEAT')[told]);
  expect(beat.claims).toEqual([{ claim_id: 'claim-2', phase: 'spooled' }]);
  link.acknowledge('claim-2', 'stale');
  await holdsNothing(agent);
});

test.each<[string, Partial<Message<'OPEN'>>]>([
  ['a claim that is held already', { claim_id: 'claim-1' }],
  ['a job without a claim', { claim_id: undefined }],
  ['a job without an id', { job_id: undefined }],
  ['an id that no coordinator makes', { claim_id: 'c'.repeat(65) }],
  ['a job with files', { parts: [{ name: 'image', content_type: 'image/png', bytes: 1 }] }],
])('%s is refused', async (_what, changes) => {
  const { agent, link } = await runningJob();
  link.open(2, changes);
  expect(await link.lastWord(2)).toMatchObject({ t: 'REJECT', reason: 'bad_request' });
  expect(agent.owner.jobs()).toHaveLength(1);
});

describe('the owner takes the card back', () => {
  test('others are handed back at once, and their claims kept until that is known', async () => {
    const { agent, link, server } = await runningJob({ own: false });
    link.open(2, { kind: 'sync', caller: { name: 'Ben', own: false } });
    await until(() => server.requests.length === 2);
    await agent.owner.pause({ until: null, now: true });
    expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'YIELDED' });
    expect(await link.lastWord(2)).toMatchObject({ t: 'RESET', code: 'YIELDED' });
    await until(() => server.aborts.length === 2);
    expect(agent.owner.jobs()).toMatchObject([{ claimId: 'claim-1', phase: 'spooled' }]);
    link.acknowledge('claim-1');
    await holdsNothing(agent);
    expect(link.all('HEARTBEAT').at(-1)?.accepts).toBe('own');
    link.open(3, { caller: { name: 'Ben', own: false } });
    expect(await link.lastWord(3)).toMatchObject({ t: 'REJECT', reason: 'paused' });
  });

  test('their own work goes on', async () => {
    const { agent, link, server } = await runningJob({ own: true });
    await agent.owner.pause({ until: null, now: true });
    await until(() => link.all('HEARTBEAT').at(-1)?.accepts === 'own');
    server.behave(answer());
    link.open(2, { kind: 'sync' });
    await link.lastWord(2);
    expect(agent.status().running).toBe(1);
    expect(link.said(1).map(({ t }) => t)).toEqual(['ACCEPT']);
  });

  test('without a link, it is told as soon as there is one', async () => {
    const { agent, coordinator, link } = await runningJob({ own: false });
    coordinator.decide = resumeAll('continue');
    coordinator.isAway = true;
    link.cut();
    await until(() => agent.status().connection === 'connecting');
    await agent.owner.pause({ until: null, now: true });
    coordinator.isAway = false;
    const second = await coordinator.link(1);
    expect(await second.lastWord(101)).toMatchObject({ t: 'RESET', code: 'YIELDED' });
    expect(coordinator.hellos[1]?.resume).toMatchObject([{ phase: 'spooled', bytes: 0 }]);
  });
});

test('a link that ends for good ends the runs, too', async () => {
  const { coordinator, server } = await jobStage(hangBeforeHeaders());
  const agent = new Agent({
    url: coordinator.origin,
    token: 'gwa_test',
    name: null,
    services: [configuredServer(server.baseUrl)],
    host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
    logger: createLogger('silent'),
    once: true,
  });
  await agent.start();
  const link = await coordinator.link(0);
  link.open(1, {}, BODY);
  await until(() => server.requests.length === 1);
  link.cut();
  expect(await agent.closed).not.toBeNull();
  await until(() => server.aborts.length === 1);
  expect(agent.owner.jobs()).toEqual([]);
});
