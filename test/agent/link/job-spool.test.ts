/** An answer that was not fetched yet survives the agent's end, within limits. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answer, hangBeforeHeaders } from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { heldModel, holdsNothing, jobStage, resumeAll, wordsOf } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { STREAMED_BODY } from './scripted-coordinator.js';

/** The endings of the files in the spool. */
async function spoolOf({ spoolDir }: JobStage): Promise<string[]> {
  return (await readdir(spoolDir)).map((name) => name.split('.')[1] ?? '').toSorted();
}

/** An answer that was sent and not acknowledged, and an agent that has stopped. */
async function stoppedUnacknowledged() {
  const stage = await jobStage(answer({ text: 'all well' }));
  const agent = await stage.startAgent();
  const link = await stage.coordinator.link(0);
  link.open(1);
  await link.lastWord(1);
  await agent.drain();
  return { ...stage, first: link };
}

describe('a result that was not acknowledged', () => {
  test('goes to disk after a second, and from there when it is', async () => {
    const stage = await jobStage(answer());
    const agent = await stage.startAgent();
    const link = await stage.coordinator.link(0);
    link.open(1);
    await link.lastWord(1);
    expect(await spoolOf(stage)).toEqual([]);
    await until(async () => (await spoolOf(stage)).includes('json'));
    link.acknowledge('claim-1');
    await holdsNothing(agent);
    await until(async () => (await spoolOf(stage)).length === 0);
  });

  test('goes to disk at once when its link ends', async () => {
    const stage = await jobStage(answer());
    await stage.startAgent();
    const link = await stage.coordinator.link(0);
    link.grants = false;
    stage.server.behave(answer({ text: 'x'.repeat(200 * 1024) }));
    link.open(1);
    await link.lastWord(1);
    stage.coordinator.isAway = true;
    link.cut();
    await until(async () => (await spoolOf(stage)).length === 2);
  });

  test('is offered and uploaded by the next process', async () => {
    const stage = await stoppedUnacknowledged();
    expect(await spoolOf(stage)).toEqual(['data', 'json']);
    stage.coordinator.decide = resumeAll('upload');
    const agent = await stage.startAgent();
    expect(stage.coordinator.hellos[1]?.resume).toMatchObject([
      { claim_id: 'claim-1', job_id: 'job-of-claim-1', phase: 'spooled' },
    ]);
    const link = await stage.coordinator.link(1);
    expect(await link.lastWord(101)).toMatchObject({ t: 'END', usage: { prompt_tokens: 7 } });
    expect(link.answer(101)).toBe(stage.first.answer(1));
    expect(link.said(101)[0]).toMatchObject({ t: 'HEAD', content_type: 'application/json' });
    expect(agent.owner.jobs()).toMatchObject([{ model: 'tiny', caller: 'Anna', own: true }]);
    link.acknowledge('claim-1', 'stale');
    await holdsNothing(agent);
    await until(async () => (await spoolOf(stage)).length === 0);
  });

  test('that is damaged is not offered', async () => {
    const stage = await stoppedUnacknowledged();
    const data = (await readdir(stage.spoolDir)).find((name) => name.endsWith('.data')) ?? '';
    await writeFile(join(stage.spoolDir, data), 'something else');
    await stage.startAgent();
    expect(stage.coordinator.hellos[1]?.resume).toEqual([]);
    expect(await spoolOf(stage)).toEqual([]);
  });

  test('ends with the agent where there is no state folder', async () => {
    const stage = await jobStage(answer());
    const agent = await stage.startAgent({ stateDir: null });
    const link = await stage.coordinator.link(0);
    link.open(1);
    await link.lastWord(1);
    stage.coordinator.decide = resumeAll('upload');
    link.cut();
    const second = await stage.coordinator.link(1);
    await second.lastWord(101);
    expect(second.answer(101)).toBe(link.answer(1));
    await agent.drain();
    expect(await readdir(stage.stateDir)).toEqual([]);
  });
});

test('a file that is gone while it is sent fails the job, and nothing else', async () => {
  const words = Array.from({ length: 3_000 }, () => 'x'.repeat(500));
  const model = heldModel(words);
  model.goOn();
  const stage = await jobStage(model.behaviour);
  const agent = await stage.startAgent();
  const link = await stage.coordinator.link(0);
  link.grants = false;
  link.open(1, {}, STREAMED_BODY);
  await until(() => agent.owner.jobs()[0]?.phase === 'spooled');
  const [name = ''] = await readdir(stage.spoolDir);
  await writeFile(join(stage.spoolDir, name.replace('.json', '.data')), 'cut off');
  link.grants = true;
  link.grant(1, 2 ** 24);
  expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'INTERNAL' });
  link.open(2);
  expect(await link.lastWord(2)).toMatchObject({ t: 'END' });
});

test('a job for which the spool has no room fails, and the next one does not', async () => {
  const stage = await jobStage(answer({ text: 'x'.repeat(5_000) }));
  await stage.startAgent({ spoolMaxBytes: 4_000 });
  const link = await stage.coordinator.link(0);
  link.open(1);
  const full = { t: 'RESET', code: 'INTERNAL', message: 'the spool is full' };
  expect(await link.lastWord(1)).toMatchObject(full);
  stage.server.behave(answer({ text: 'short' }));
  link.open(2);
  expect(await link.lastWord(2)).toMatchObject({ t: 'END' });
});

describe('a stopping agent', () => {
  test('finishes what runs, lets nothing in, and waits for the acknowledgement', async () => {
    const model = heldModel();
    const stage = await jobStage(model.behaviour);
    const agent = await stage.startAgent();
    const link = await stage.coordinator.link(0);
    link.open(1, {}, STREAMED_BODY);
    await until(() => link.answer(1) !== '');
    const stopped = agent.drain();
    await until(() => link.all('DRAIN').length === 1);
    link.open(2);
    expect(await link.lastWord(2)).toMatchObject({ t: 'REJECT', reason: 'draining' });
    model.goOn();
    await link.lastWord(1);
    expect(wordsOf(link.answer(1))).toBe('c0 c1 c2 ');
    expect(link.isClosed).toBe(false);
    link.acknowledge('claim-1');
    await stopped;
    expect(link.isClosed).toBe(true);
    expect(await spoolOf(stage)).toEqual([]);
  });

  test('hands back what runs on and on', async () => {
    const stage = await jobStage(hangBeforeHeaders());
    const agent = await stage.startAgent({ drainMs: 50 });
    const link = await stage.coordinator.link(0);
    link.open(1);
    await until(() => stage.server.requests.length === 1);
    const stopped = agent.drain();
    expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'YIELDED' });
    link.acknowledge('claim-1');
    await stopped;
    expect(stage.server.aborts).toHaveLength(1);
  });
});
