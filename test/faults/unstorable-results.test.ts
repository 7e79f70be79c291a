import { describe, expect, it } from 'vitest';
import { accepted, ended, getJob, pauseQueue, resumeQueue, submitted } from '../api/job-calls.js';
import type { JobBody } from '../api/job-calls.js';
import { listAssets, speak } from '../api/media-calls.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { claimOf, connectJobAgent, resetsOf, verdictOf, verdictsOf } from '../support/job-agent.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { filesBelow } from '../support/open-library.js';
import { SPEECH } from '../support/studio.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';

/** SQLite reads JSON to a depth of 1,000. */
const DEEP = `{"x":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;

describe('a result that the database refuses', () => {
  it('as too deep fails its job, and what comes after it is stored', async () => {
    const gateway = await startGateway({ jobMaxAttempts: 1 });
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    const { stream } = open;
    agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    agent.data(stream, DEEP);
    agent.send({ t: 'END', stream, ok: true });
    const job = await ended(gateway, id);
    expect(job).toMatchObject({ status: 'FAILED', attempts: 1 });
    expect(job.error).toMatchObject({
      code: 'max_retries_exhausted',
      message: expect.stringContaining('it is nested deeper than 128 levels'),
    });
    expect(JSON.stringify(job.error)).not.toMatch(/json|sqlite|constraint/i);
    expect(await verdictOf(agent, open)).toBe('stored');
    expect(usageRows(gateway)).toMatchObject([{ outcome: 'failed' }]);
    const next = await submitted(gateway, { model: 'm' });
    agent.answer((await agent.nextOpen()).stream, { fine: true });
    expect((await ended(gateway, next.id)).status).toBe('PROCESSED');
  });

  it('as invalid UTF-8 leaves its job in a final state', async () => {
    const gateway = await startGateway({ jobMaxAttempts: 1 });
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    const { stream } = open;
    agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    agent.data(stream, Buffer.concat([Buffer.from('{"x":"'), INVALID, Buffer.from('"}')]));
    agent.send({ t: 'END', stream, ok: true });
    await until(() => verdictsOf(agent, claimOf(open)).length === 1);
    const { status, result } = await ended(gateway, id);
    // Decoded as by any client: invalid characters are replaced.
    expect([status, result]).toEqual(['PROCESSED', { x: '\ufffd\ufffd' }]);
  });
});

const INVALID = Buffer.from([0xff, 0xfe]);

/** A tenth is one member's: room for one answer. */
const ROOM = { assetsMaxBytes: 10 * SPEECH.length };
const order = async (gateway: TestGateway) =>
  accepted<JobBody>(await speak(gateway, { model: 'm', async: true }));

async function expectOneKept(gateway: TestGateway, failed: string): Promise<void> {
  const job = await getJob(gateway, failed);
  expect(job).toMatchObject({ status: 'FAILED', assets: [] });
  expect(job.error).toMatchObject({ type: 'server_error', code: 'storage_full' });
  const row = usageRows(gateway).find(({ requestId }) => requestId.startsWith(failed));
  expect(row).toMatchObject({ outcome: 'failed', errorCode: 'storage_full', audioMs: 0 });
  expect(await listAssets(gateway)).toHaveLength(1);
  await until(async () => (await filesBelow(gateway.dataDir)).length === 1);
}

describe('space for files that is spent', () => {
  it('fails a job before a GPU works for it', async () => {
    const gateway = await startGateway(ROOM);
    const agent = await connectMediaAgent(gateway, { type: 'tts' });
    await pauseQueue(gateway);
    const { id } = await order(gateway);
    const call = speak(gateway, { model: 'm' });
    await agent.media((await agent.nextOpen()).stream, [{ bytes: SPEECH }]);
    expect((await call).status).toBe(200);
    await until(async () => (await listAssets(gateway)).length === 1);
    await resumeQueue(gateway);
    expect((await ended(gateway, id)).status).toBe('FAILED');
    await expectOneKept(gateway, id);
    expect(agent.hasOpen).toBe(false);
  });

  it('meanwhile by another job fails the one that is done last, at once', async () => {
    const gateway = await startGateway(ROOM);
    const agent = await connectMediaAgent(gateway, { type: 'tts' });
    await order(gateway);
    await order(gateway);
    const [slow, quick] = [await agent.nextOpen(), await agent.nextOpen()];
    agent.mediaHead(slow.stream);
    agent.part(slow.stream);
    await agent.bytes(slow.stream, SPEECH);
    await agent.media(quick.stream, [{ bytes: SPEECH }]);
    expect((await ended(gateway, quick.job_id ?? '')).status).toBe('PROCESSED');
    agent.send({ t: 'END', stream: slow.stream, ok: true });
    const failed = await ended(gateway, slow.job_id ?? '');
    expect(failed).toMatchObject({ attempts: 1 });
    await expectOneKept(gateway, failed.id);
    const owned = query(gateway, 'select job_id from job_assets');
    expect(owned).toEqual([{ job_id: quick.job_id }]);
    // The agent may forget it: no other run would fare better.
    expect(await verdictOf(agent, slow)).toBe('stored');
  });

  it('by one file alone fails its job while the file still comes', async () => {
    const gateway = await startGateway(ROOM);
    const agent = await connectMediaAgent(gateway, { type: 'tts' });
    const { id } = await order(gateway);
    const open = await agent.nextOpen();
    agent.mediaHead(open.stream);
    agent.part(open.stream);
    const sending = agent.bytes(open.stream, Buffer.concat([SPEECH, Buffer.alloc(8_000_000)]));
    sending.catch(() => {});
    const job = await ended(gateway, id);
    expect(job).toMatchObject({ status: 'FAILED', attempts: 1, error: { code: 'storage_full' } });
    expect(resetsOf(agent, open.stream)).toEqual(['INTERNAL']);
    expect(usageRows(gateway)).toMatchObject([{ outcome: 'failed', audioMs: 0 }]);
    expect(await listAssets(gateway)).toEqual([]);
    await until(async () => (await filesBelow(gateway.dataDir)).length === 0);
  });
});
