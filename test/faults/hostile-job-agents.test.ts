import { beforeEach, describe, expect, it } from 'vitest';
import {
  accepted,
  BATCHES,
  chatItem,
  ended,
  getJob,
  getJson,
  submitBatch,
  submitted,
} from '../api/job-calls.js';
import type { BatchBody, JobBody } from '../api/job-calls.js';
import { listAssets, speak } from '../api/media-calls.js';
import { administer } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import {
  answerJobs,
  claimOf,
  connectJobAgent,
  heartbeat,
  offerFor,
  offerOf,
  resetsOf,
  resumedStream,
  resumptionsOf,
  verdictOf,
} from '../support/job-agent.js';
import type { Open } from '../support/job-agent.js';
import { answerAll, connectMediaAgent } from '../support/media-agent.js';
import { DOCUMENT, HELLO } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { SPEECH } from '../support/studio.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

let gateway: TestGateway;
let hostile: RawAgent;
let token: string;

async function start(settings: Parameters<typeof startGateway>[0] = {}): Promise<void> {
  gateway = await startGateway(settings);
  ({ agent: hostile, token } = await connectJobAgent(gateway, { name: 'hostile' }));
}

/** A job of Anna's that the hostile agent has accepted. */
async function heldJob(): Promise<{ readonly id: string; readonly open: Open }> {
  const { id } = await submitted(gateway, { model: 'm' });
  return { id, open: await hostile.nextOpen() };
}

/** The job has ended; no back-off is waited out. */
async function untilEnded(id: string): Promise<void> {
  await until(async () => {
    await administer(gateway, 'queue.requeue-stuck', {});
    return (await getJob(gateway, id)).finished_at !== null;
  });
}

const connectSpeaker = (name: string) => connectMediaAgent(gateway, { type: 'tts', name });

const cancel = (id: string) => administer(gateway, 'job.cancel', { job: id });

const connectBen = (options: Parameters<typeof connectJobAgent>[1] = {}) =>
  connectJobAgent(gateway, { name: 'ben-pc', owner: gateway.ben, ...options });

/** Another agent ends the job, whatever the first one did with it. */
async function expectEndsElsewhere(id: string): Promise<void> {
  const { agent: honest } = await connectJobAgent(gateway, { name: 'honest' });
  answerJobs(honest);
  await untilEnded(id);
  expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 2 });
  const rows = usageRows(gateway).filter(({ requestId }) => requestId.startsWith(id));
  expect(rows).toMatchObject([{ outcome: 'ok', attempts: 2 }]);
}

type Attack = (agent: RawAgent, stream: number) => void;

/** What an agent does with a job in its hands, and the code that its link ends with. */
const ATTACKS: readonly (readonly [string, Attack, number])[] = [
  ['a text frame that is no JSON', (agent) => agent.sendText('{'), 4000],
  ['a second HELLO', (agent) => agent.send(HELLO), 4000],
  ['a word on an unknown stream', (agent) => agent.data(99, 'x'), 4000],
  ['bytes before HEAD', (agent, stream) => agent.data(stream, 'x'), 4000],
  ['END before HEAD', (agent, stream) => agent.send({ t: 'END', stream, ok: true }), 4000],
  ['an oversize frame', (agent) => agent.socket.send(Buffer.alloc(300_000)), 1009],
  ['bad UTF-8', sendBadUtf8, 1007],
  ['endless fragments', sendFragments, 1008],
  ['1,100 claims in a heartbeat', sendManyClaims, 4000],
];

describe('the job of an agent', () => {
  beforeEach(() => start({ jobLeaseMs: 600 }));

  it('that breaks the protocol is done by another, once', async () => {
    const connected = await Promise.all(
      ATTACKS.map((_, i) => connectJobAgent(gateway, { name: `hostile-${i}`, slots: 1 })),
    );
    const items = ATTACKS.map(() => chatItem({ model: 'm' }));
    hostile.send({ t: 'DRAIN', deadline_ms: 0, reason: 'test' });
    const batch = await accepted<BatchBody>(await submitBatch(gateway, items));
    const codes = await Promise.all(
      ATTACKS.map(async ([name, attack], i) => {
        const agent = connected[i]?.agent ?? hostile;
        const { stream } = await agent.nextOpen();
        attack(agent, stream);
        return [name, await agent.closed()];
      }),
    );
    expect(codes).toEqual(ATTACKS.map(([name, , code]) => [name, code]));
    const { agent: honest } = await connectJobAgent(gateway, { name: 'honest' });
    answerJobs(honest);
    await until(async () => {
      await administer(gateway, 'queue.requeue-stuck', {});
      const { processed } = await getJson<BatchBody>(gateway, `${BATCHES}/${batch.id}`);
      return processed === ATTACKS.length;
    });
    const usage = usageRows(gateway).map(({ outcome, attempts }) => ({ outcome, attempts }));
    expect(usage).toEqual(ATTACKS.map(() => ({ outcome: 'ok', attempts: 2 })));
  });

  it('that speaks on a stream it has ended is done by another', async () => {
    const done = await heldJob();
    const { id } = await heldJob();
    hostile.answer(done.open.stream, DOCUMENT);
    expect((await ended(gateway, done.id)).status).toBe('PROCESSED');
    hostile.answer(done.open.stream, DOCUMENT);
    expect(await hostile.closed()).toBe(4000);
    await expectEndsElsewhere(id);
  });

  it('that falls silent is done by another, though somebody else lists its claim', async () => {
    const { id, open } = await heldJob();
    const { agent: thief } = await connectBen();
    await until(async () => {
      expect(await heartbeat(thief, [claimOf(open)])).toEqual([claimOf(open)]);
      return (await getJob(gateway, id)).status !== 'PROCESSING';
    });
    await expectEndsElsewhere(id);
    expect(hostile.closeCode).toBeNull();
  });
});

// Its lease is long: no claim may end because a busy machine takes long over the bytes.
describe('the job of an agent that keeps its link', () => {
  beforeEach(() => start());

  it('but overruns its credit is done by another', async () => {
    const agent = await connectSpeaker('greedy');
    const { id } = await accepted<JobBody>(await speak(gateway, { model: 'm', async: true }));
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    agent.part(stream);
    // In one turn: credit for them can only come after all of them.
    agent.data(stream, SPEECH);
    for (let i = 0; i < 200; i++) agent.data(stream, Buffer.alloc(65_000));
    await until(() => resetsOf(agent, stream).length > 0);
    expect(resetsOf(agent, stream)).toEqual(['FLOW_CONTROL']);
    expect(agent.closeCode).toBeNull();
    // The next attempt would be its own again, if the other one came later than the back-off.
    agent.send({ t: 'DRAIN', deadline_ms: 0, reason: 'test' });
    const honest = await connectSpeaker('honest');
    answerAll(honest, ({ stream: next }) => honest.media(next, [{ bytes: SPEECH }]));
    await untilEnded(id);
    expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 2 });
    expect(await listAssets(gateway)).toHaveLength(1);
  });
});

describe('an agent that claims what is not its own', () => {
  beforeEach(() => start());

  it('is told to discard results of another provider’s claim, and the job goes on', async () => {
    const { id, open } = await heldJob();
    const { agent: thief } = await connectBen({
      resume: [offerOf(open), offerOf(open, 'running')],
    });
    const discarded = { claim_id: claimOf(open), action: 'discard' };
    expect(await resumptionsOf(thief)).toEqual([discarded, discarded]);
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    hostile.answer(open.stream, DOCUMENT);
    expect(await verdictOf(hostile, open)).toBe('stored');
  });

  it('cannot answer a job of another member', async () => {
    const { id, open } = await heldJob();
    const { agent: thief } = await connectBen();
    thief.answer(open.stream, { ...DOCUMENT, id: 'forged' });
    expect(await thief.closed()).toBe(4000);
    hostile.answer(open.stream, DOCUMENT);
    expect((await ended(gateway, id)).result).toMatchObject({ id: DOCUMENT.id });
  });

  it('with 1,024 offers for claims that never were is told to discard them all', async () => {
    const offers = Array.from({ length: 1_024 }, (_, i) => offerFor(`claim-${i}`));
    const { agent } = await connectBen({ resume: offers });
    const told = await resumptionsOf(agent);
    expect(told).toHaveLength(1_024);
    expect(told.every(({ action }) => action === 'discard')).toBe(true);
  });

  it('with 1,024 claims in each of 200 heartbeats has lost them all', async () => {
    const { open } = await heldJob();
    const foreign = Array.from({ length: 1_023 }, (_, i) => `claim-${i}`);
    expect(await heartbeat(hostile, [claimOf(open), ...foreign])).toEqual(foreign);
    for (let beat = 0; beat < 200; beat++) {
      const claims = foreign.map((id) => ({ claim_id: id, phase: 'running' as const }));
      hostile.send({ t: 'HEARTBEAT', seq: 10_000 + beat, slots: [], claims, accepts: 'all' });
    }
    await until(() => hostile.messages.some((m) => m.t === 'HEARTBEAT_OK' && m.seq === 10_199));
    hostile.answer(open.stream, DOCUMENT);
    expect(await verdictOf(hostile, open)).toBe('stored');
  });
});

describe('the result of a job that was canceled', () => {
  beforeEach(() => start());

  it('is discarded when its agent offers it', async () => {
    const { id, open } = await heldJob();
    hostile.socket.terminate();
    await cancel(id);
    const { agent } = await connectJobAgent(gateway, { token, resume: [offerOf(open)] });
    expect(await resumptionsOf(agent)).toMatchObject([{ action: 'discard' }]);
    expect(await getJob(gateway, id)).toMatchObject({ status: 'CANCELED', assets: [] });
  });

  it('is refused where the cancel comes while it is uploaded', async () => {
    const { id, open } = await heldJob();
    hostile.socket.terminate();
    const { agent } = await connectJobAgent(gateway, { token, resume: [offerOf(open)] });
    const stream = await resumedStream(agent);
    agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    await cancel(id);
    await until(() => resetsOf(agent, stream).includes('CANCELED'));
    agent.data(stream, JSON.stringify(DOCUMENT));
    agent.send({ t: 'END', stream, ok: true });
    expect(await heartbeat(agent, [claimOf(open)])).toEqual([claimOf(open)]);
    expect((await getJob(gateway, id)).status).toBe('CANCELED');
    expect(usageRows(gateway)).toMatchObject([{ outcome: 'canceled' }]);
  });
});

function sendBadUtf8(agent: RawAgent): void {
  agent.socket.send(Buffer.from([0xff, 0xfe, 0x7b]), { binary: false });
}

function sendFragments(agent: RawAgent): void {
  for (let i = 0; i < 40; i++) agent.socket.send('x', { fin: false });
}

function sendManyClaims(agent: RawAgent): void {
  const claims = Array.from({ length: 1_100 }, (_, i) => ({ claim_id: `${i}`, phase: 'running' }));
  const beat = { t: 'HEARTBEAT', seq: 1, slots: [], claims, accepts: 'all' };
  agent.sendText(JSON.stringify(beat));
}
