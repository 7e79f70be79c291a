import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chatItem, ended, getJob, submit, submitBatch, submitted } from '../api/job-calls.js';
import { chat, failureOf } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import {
  claimOf,
  connectJobAgent,
  heartbeat,
  offerOf,
  onEachOpen,
  resumedStream,
  verdictOf,
  verdictsOf,
} from '../support/job-agent.js';
import { DOCUMENT, HELLO, RawAgent } from '../support/raw-agent.js';
import { FULL } from '../support/process-stage.js';
import { mountSmallDisk } from '../support/small-disk.js';
import type { SmallDisk } from '../support/small-disk.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

const REFUSED = { status: 503, type: 'server_error', code: 'storage_unavailable' };
/** More than what a log that has been written before could still take. */
const LARGE = { ...DOCUMENT, padding: 'x'.repeat(300_000) };

/** Earlier log pages are written again without new room; then nothing fits any more. */
async function fillUp(gateway: TestGateway, disk: SmallDisk): Promise<void> {
  await disk.fill();
  await until(async () => (await submit(gateway, { model: 'm' })).status === 503);
}

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

describe('a disk that is full under the database', () => {
  it.runIf(canMount)('refuses jobs and batches, and takes them once there is room', async () => {
    const disk = await diskOf(8);
    const gateway = await startGateway({ dataDir: disk.folder });
    const { agent } = await connectJobAgent(gateway);
    onEachOpen(agent, ({ stream }) => agent.answer(stream, DOCUMENT));
    await submitted(gateway, { model: 'm' });
    await fillUp(gateway, disk);
    const refused = await submit(gateway, { model: 'm' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await failureOf(refused)).toMatchObject(REFUSED);
    const batch = await submitBatch(gateway, [chatItem({ model: 'm' })]);
    expect(await failureOf(batch)).toMatchObject(REFUSED);
    await disk.empty();
    const { id } = await submitted(gateway, { model: 'm' });
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
  });

  it.runIf(canMount)('leaves a result with its agent until it can be stored', async () => {
    const disk = await diskOf(8);
    const gateway = await startGateway({ dataDir: disk.folder });
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    await fillUp(gateway, disk);
    const { stream } = open;
    agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    await agent.bytes(stream, Buffer.from(JSON.stringify(LARGE)));
    agent.send({ t: 'END', stream, ok: true });
    // Messages arrive in order: after the heartbeat, all earlier ones have arrived.
    expect(await heartbeat(agent, [claimOf(open)], 'spooled')).toEqual([]);
    expect(verdictsOf(agent, claimOf(open))).toEqual([]);
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    await disk.empty();
    expect(await verdictOf(agent, open)).toBe('stored');
    expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    expect(verdictsOf(agent, claimOf(open))).toEqual(['stored']);
  });

  it.runIf(canMount)('sends an agent away that brings a result, and takes it later', async () => {
    const disk = await diskOf(8);
    const gateway = await startGateway({ dataDir: disk.folder });
    const { agent, token } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    agent.socket.terminate();
    await until(async () => (await gateway.client.models.list()).data.length === 0);
    await fillUp(gateway, disk);
    const resume = [offerOf(open)];
    const early = await new RawAgent(gateway.address, token).opened();
    early.send({ ...HELLO, instance_id: 'pc', resume });
    expect(await early.closed()).toBe(1013);
    await disk.empty();
    const { agent: back } = await connectJobAgent(gateway, { token, resume });
    back.answer(await resumedStream(back), DOCUMENT);
    expect(await verdictOf(back, open)).toBe('stored');
    expect((await getJob(gateway, id)).status).toBe('PROCESSED');
  });
});

it.runIf(FULL)(
  'a database that another program has locked keeps nobody’s result, and loses none',
  async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    await until(async () => (await getJob(gateway, id)).status === 'PROCESSING');
    const other = openDatabase(join(gateway.dataDir, DATABASE_FILE));
    onTestFinished(() => void other.close());
    other.exec('begin immediate');
    agent.answer(open.stream, DOCUMENT);
    // The only writer waits 5 s for the lock.
    const refused = await submit(gateway, chat({ model: 'm' }));
    expect(await failureOf(refused)).toMatchObject(REFUSED);
    expect(verdictsOf(agent, claimOf(open))).toEqual([]);
    other.exec('rollback');
    expect(await verdictOf(agent, open)).toBe('stored');
    expect(usageRows(gateway)).toHaveLength(1);
  },
);

async function diskOf(sizeMiB: number): Promise<SmallDisk> {
  const disk = await mountSmallDisk(sizeMiB);
  if (disk === null) throw new Error('the superuser may not mount a file system here');
  return disk;
}
