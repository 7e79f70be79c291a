/** A job outlives its link: it runs on, and its answer is sent again from its first byte. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answer, document } from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { heldModel, holdsNothing, jobStage, resumeAll, wordsOf } from './job-stage.js';
import { BODY, STREAMED_BODY } from './scripted-coordinator.js';

test('a job is accepted, answered and let go when it is acknowledged', async () => {
  const { coordinator, startAgent } = await jobStage(answer({ text: 'all well' }));
  const agent = await startAgent();
  const link = await coordinator.link(0);
  link.open(1);
  expect(await link.lastWord(1)).toMatchObject({ t: 'END', ok: true, usage: { prompt_tokens: 7 } });
  expect(link.said(1).map(({ t }) => t)).toEqual(['ACCEPT', 'HEAD', 'END']);
  expect(link.answer(1)).toContain('all well');
  expect(agent.owner.jobs()).toMatchObject([
    { jobId: 'job-of-claim-1', claimId: 'claim-1', phase: 'spooled', model: 'tiny', own: true },
  ]);
  expect(agent.status().running).toBe(0);
  link.acknowledge('claim-1', 'duplicate');
  await holdsNothing(agent);
});

async function inMidAnswer(rest?: readonly string[]) {
  const model = heldModel(rest);
  const stage = await jobStage(model.behaviour);
  const agent = await stage.startAgent();
  const first = await stage.coordinator.link(0);
  first.open(1, {}, STREAMED_BODY);
  await until(() => first.answer(1).includes('c0'));
  return { ...stage, agent, model, first };
}

async function cutInMidAnswer(rest?: readonly string[]) {
  const begun = await inMidAnswer(rest);
  begun.first.cut();
  return begun;
}

describe('when the link is cut in mid-answer', () => {
  test('the run goes on, and a new link carries all of it and what follows', async () => {
    const { coordinator, model, server } = await cutInMidAnswer();
    coordinator.decide = resumeAll('continue');
    const second = await coordinator.link(1);
    expect(coordinator.hellos[1]?.resume).toEqual([
      {
        claim_id: 'claim-1',
        job_id: 'job-of-claim-1',
        phase: 'running',
        bytes: expect.any(Number),
      },
    ]);
    await until(() => wordsOf(second.answer(101)) === 'c0 ');
    model.goOn();
    expect(await second.lastWord(101)).toMatchObject({ t: 'END' });
    expect(second.said(101).map(({ t }) => t)).toEqual(['HEAD', 'END']);
    expect(wordsOf(second.answer(101))).toBe('c0 c1 c2 ');
    expect(server.requests).toHaveLength(1);
  });

  test('an answer that is finished meanwhile is uploaded, with its size and its hash', async () => {
    const { coordinator, model, agent, first } = await inMidAnswer();
    coordinator.isAway = true;
    first.cut();
    coordinator.decide = resumeAll('upload');
    model.goOn();
    await until(() => agent.owner.jobs()[0]?.phase === 'spooled');
    coordinator.isAway = false;
    const second = await coordinator.link(1);
    await second.lastWord(101);
    const sent = second.answer(101);
    expect(wordsOf(sent)).toBe('c0 c1 c2 ');
    const sha256 = createHash('sha256').update(sent).digest('hex');
    expect(coordinator.hellos[1]?.resume).toMatchObject([
      { claim_id: 'claim-1', phase: 'spooled', bytes: sent.length, sha256 },
    ]);
    second.acknowledge('claim-1');
    await holdsNothing(agent);
  });

  test('the work keeps its slot, and the heartbeat its claim', async () => {
    const { coordinator, agent, server } = await cutInMidAnswer();
    coordinator.decide = resumeAll('continue');
    const second = await coordinator.link(1);
    second.open(2, {}, STREAMED_BODY);
    await until(() => server.requests.length === 2);
    second.open(3);
    expect(await second.lastWord(3)).toMatchObject({ t: 'REJECT', reason: 'busy' });
    await agent.owner.pause({ until: null, now: false });
    const beat = await until(() => second.all('HEARTBEAT').at(-1));
    expect(beat.claims).toEqual([
      { claim_id: 'claim-1', phase: 'running' },
      { claim_id: 'claim-2', phase: 'running' },
    ]);
    expect(beat).toMatchObject({ slots: [{ busy: 2, free: 0 }], accepts: 'own' });
  });

  test.each([['is not named'], ['is to be discarded']])(
    'a claim that %s in WELCOME is given up, and the local server told',
    async (what) => {
      const { coordinator, agent, server } = await cutInMidAnswer();
      coordinator.decide = (offers) =>
        what === 'is not named'
          ? []
          : offers.map(({ claim_id }) => ({ claim_id, action: 'discard' as const }));
      await coordinator.link(1);
      await until(() => server.aborts.length === 1);
      await holdsNothing(agent);
      await until(() => agent.status().running === 0);
    },
  );

  test('a stream for a claim that is not held is refused', async () => {
    const { coordinator } = await cutInMidAnswer();
    coordinator.decide = () => [{ claim_id: 'other', action: 'upload', stream: 7 }];
    const second = await coordinator.link(1);
    expect(await second.lastWord(7)).toMatchObject({ t: 'RESET', code: 'CANCELED' });
  });

  test('a long answer is the same to the last byte, however often the link is cut', async () => {
    const rest = Array.from({ length: 3_000 }, (_, i) => `word ${i} `.padEnd(300, '.'));
    const { coordinator, model, agent } = await cutInMidAnswer(rest);
    coordinator.decide = resumeAll('continue');
    const second = await coordinator.link(1);
    second.grants = false;
    model.goOn();
    await until(() => agent.owner.jobs()[0]?.phase === 'spooled');
    // The card is free although the link takes nothing.
    expect(agent.status().running).toBe(0);
    second.cut();
    const third = await coordinator.link(2);
    await third.lastWord(101);
    expect(wordsOf(third.answer(101))).toBe(`c0 ${rest.join('')}`);
    expect(third.answer(101)).toHaveLength(agent.owner.jobs()[0]?.bytes ?? 0);
  });
});

test('a job whose request has not arrived whole ends with its link', async () => {
  const { coordinator, server, startAgent } = await jobStage(document());
  const agent = await startAgent();
  const link = await coordinator.link(0);
  link.open(1, { body: { bytes: BODY.length + 1 } });
  await until(() => agent.owner.jobs().length === 1);
  link.cut();
  await coordinator.link(1);
  expect(coordinator.hellos[1]?.resume).toEqual([]);
  expect(link.said(1)).toEqual([]);
  expect(server.requests).toEqual([]);
  await until(() => agent.status().running === 0);
});

test('a failure is a last word like another: kept until it is acknowledged', async () => {
  const { coordinator, server, startAgent } = await jobStage();
  server.behave((_request, response) => void response.destroy());
  const agent = await startAgent();
  const link = await coordinator.link(0);
  link.open(1);
  expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'LOCAL_ERROR' });
  coordinator.decide = resumeAll('upload');
  link.cut();
  const second = await coordinator.link(1);
  expect(await second.lastWord(101)).toMatchObject({ t: 'RESET', code: 'LOCAL_ERROR' });
  second.acknowledge('claim-1');
  await holdsNothing(agent);
});

test('a deadline of a month does not end a job at once', async () => {
  const { coordinator, startAgent } = await jobStage(answer());
  await startAgent();
  const link = await coordinator.link(0);
  link.open(1, { deadline_ms: 30 * 86_400_000 });
  expect(await link.lastWord(1)).toMatchObject({ t: 'END' });
});

test('the deadline goes on without a link', async () => {
  const model = heldModel();
  const { coordinator, server, startAgent } = await jobStage(model.behaviour);
  const agent = await startAgent();
  const link = await coordinator.link(0);
  link.open(1, { deadline_ms: 300 }, STREAMED_BODY);
  await until(() => link.answer(1) !== '');
  coordinator.decide = resumeAll('continue');
  link.cut();
  const second = await coordinator.link(1);
  expect(await second.lastWord(101)).toMatchObject({ t: 'RESET', code: 'DEADLINE' });
  expect(server.aborts).toHaveLength(1);
  expect(agent.status().running).toBe(0);
});
