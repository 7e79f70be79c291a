import { describe, expect, it, onTestFinished } from 'vitest';
import { accepted, ended, getJob, submitted } from '../api/job-calls.js';
import type { JobBody } from '../api/job-calls.js';
import { listAssets, speak } from '../api/media-calls.js';
import { administer } from '../api/requests.js';
import {
  answer,
  dieMidStream,
  hangAfterHeaders,
  hangBeforeHeaders,
  html500,
  reply,
} from '../support/fake-behaviours.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { heldBytes, MIB } from '../support/memory.js';
import { filesBelow } from '../support/open-library.js';
import { FULL } from '../support/process-stage.js';
import { SPEECH } from '../support/studio.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';

async function startFake(model: string, behaviour: Behaviour): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi({ models: [model], behaviour });
  onTestFinished(() => fake.close());
  return fake;
}

/** A gateway with one agent before a local server for each of these. */
async function startHome(
  behaviours: Readonly<Record<string, Behaviour>>,
  settings: Parameters<typeof startGateway>[0],
) {
  const gateway = await startGateway(settings);
  const models = Object.entries(behaviours);
  const fakes = await Promise.all(models.map(([model, one]) => startFake(model, one)));
  await gateway.startAgent({ services: fakes.map(({ baseUrl }) => ({ baseUrl })) });
  return { gateway, fakes };
}

/** The ends of one job for each model. */
async function runAll(gateway: TestGateway, models: readonly string[]) {
  const jobs = await Promise.all(models.map((model) => submitted(gateway, { model })));
  return Promise.all(jobs.map(({ id }) => ended(gateway, id)));
}

describe('a local server', () => {
  const FAILING: Readonly<Record<string, Behaviour>> = {
    'hangs-before-headers': hangBeforeHeaders(),
    'hangs-after-headers': hangAfterHeaders({ after: 1 }),
    'dies-in-mid-answer': dieMidAnswer,
    'dies-in-mid-stream': dieMidStream(),
    'answers-500-html': html500(),
    'answers-html': reply(200, '<h1>Welcome</h1>', 'text/html'),
    'answers-429': reply(429, { error: { message: 'slow down' } }),
    'answers-503': reply(503, { error: { message: 'loading' } }),
  };

  it('that fails a job is asked once more, and then the job has failed', async () => {
    const settings = { jobMaxAttempts: 2, jobDeadlineMs: 1_000 };
    const { gateway, fakes } = await startHome(FAILING, settings);
    const jobs = await runAll(gateway, Object.keys(FAILING));
    const told = jobs.map(({ model, status, attempts, error }) => {
      return [model, status, attempts, error?.code];
    });
    const failed = ['FAILED', 2, 'max_retries_exhausted'];
    expect(told).toEqual(Object.keys(FAILING).map((model) => [model, ...failed]));
    expect(fakes.map(({ requests }) => requests.length)).toEqual(fakes.map(() => 2));
    for (const { error } of jobs) expect(error?.message).toMatch(/^It failed 2 times\. The last/);
    const usage = usageRows(gateway);
    expect(usage.every(({ outcome, attempts }) => outcome === 'failed' && attempts === 2)).toBe(
      true,
    );
    expect(usage).toHaveLength(jobs.length);
    // Nobody computes for a job that has failed.
    await until(() => fakes.every(({ inFlight }) => inFlight === 0));
  });

  it('that is asked once more is given time first', async () => {
    const { gateway, fakes } = await startHome({ m: html500() }, {});
    const [fake] = fakes;
    const { id } = await submitted(gateway, { model: 'm' });
    const job = await until(async () => {
      const seen = await getJob(gateway, id);
      return seen.attempts === 1 && seen.status === 'QUEUED' ? seen : null;
    });
    expect(job.waiting_reason).toContain('500');
    const [row] = query<{ ms: number }>(
      gateway,
      'select not_before - started_at as ms from jobs where not_before > 0',
    );
    // random(0.5–1.5) · 2^1 s, from the end of the attempt.
    expect(row?.ms).toBeGreaterThanOrEqual(1_000);
    expect(row?.ms).toBeLessThan(3_000 + 1_000);
    expect(fake?.requests).toHaveLength(1);
    fake?.behave(answer());
    await administer(gateway, 'queue.requeue-stuck', {});
    expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 2 });
  });

  it('that refuses the request itself has failed its job at once', async () => {
    const refusal = { error: { message: 'the prompt is not to my taste' } };
    const behaviours = { bad: reply(400, refusal), odd: reply(422, refusal) };
    const { gateway, fakes } = await startHome(behaviours, {});
    for (const job of await runAll(gateway, ['bad', 'odd'])) {
      expect(job).toMatchObject({ status: 'FAILED', attempts: 1 });
      expect(job.error).toMatchObject({ code: 'provider_rejected' });
      expect(job.error?.message).toContain('taste');
    }
    expect(fakes.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  it('that refuses the connection has failed its job when no attempt is left', async () => {
    const { gateway, fakes } = await startHome({ m: answer() }, { jobMaxAttempts: 1 });
    await fakes[0]?.close();
    const job = await ended(gateway, (await submitted(gateway, { model: 'm' })).id);
    expect(job).toMatchObject({ status: 'FAILED', attempts: 1 });
    expect(job.error).toMatchObject({ code: 'max_retries_exhausted' });
    // Nobody is sent there until it is back.
    expect((await gateway.client.models.list()).data).toEqual([]);
  });
});

describe('a local server that never stops sending', () => {
  const PIECE = Buffer.alloc(MIB, 0x20);
  /** Each measurement collects all garbage: in every turn, the sound took 64 s instead of 15. */
  const MEASURED_EVERY = 8 * MIB;

  it('JSON is cut off, and its job has failed', async () => {
    const sent = { bytes: 0 };
    const endless = sendEndless('application/json', Buffer.from('{"x":"'), { sent, piece: PIECE });
    const { gateway, fakes } = await startHome({ m: endless }, { jobMaxAttempts: 1 });
    const [job] = await runAll(gateway, ['m']);
    expect(job).toMatchObject({ status: 'FAILED', error: { code: 'max_retries_exhausted' } });
    await until(() => fakes[0]?.aborts.length === 1);
    expect(sent.bytes).toBeLessThan(160 * MIB);
  });

  it('sound is cut off where the spool is full, and is never held in memory', async () => {
    const sent = { bytes: 0 };
    const behaviour = sendEndless('audio/wav', SPEECH, { sent, piece: PIECE });
    const fake = await startFake('m', behaviour);
    const gateway = await startGateway({ jobMaxAttempts: 1 });
    const stateDir = await temporaryFolder();
    const spoolMaxBytes = FULL ? 1024 * MIB : 64 * MIB;
    const services = [{ type: 'tts' as const, baseUrl: fake.baseUrl }];
    await gateway.startAgent({ services, stateDir, spoolMaxBytes });
    const { id } = await accepted<JobBody>(await speak(gateway, { model: 'm', async: true }));
    await until(() => sent.bytes > 8 * MIB);
    const before = heldBytes();
    let mostHeld = 0;
    let measuredAt = 0;
    await until(
      () => {
        if (sent.bytes - measuredAt >= MEASURED_EVERY) {
          measuredAt = sent.bytes;
          mostHeld = Math.max(mostHeld, heldBytes() - before);
        }
        return fake.aborts.length === 1;
      },
      { timeoutMs: 280_000 },
    );
    expect(await ended(gateway, id)).toMatchObject({ status: 'FAILED', assets: [] });
    expect(sent.bytes).toBeGreaterThan(spoolMaxBytes / 2);
    expect(sent.bytes).toBeLessThan(spoolMaxBytes + 64 * MIB);
    expect(mostHeld).toBeLessThan(48 * MIB);
    expect(usageRows(gateway)).toMatchObject([{ outcome: 'failed', audioMs: 0 }]);
    expect(await listAssets(gateway)).toEqual([]);
    await until(async () => (await filesBelow(gateway.dataDir)).length === 0);
  }, 300_000);
});

/** A JSON answer that is cut off, as by a crashed server. */
const dieMidAnswer: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 10_000 });
  response.write('{"choices":[', () => response.destroy());
};

interface Endless {
  readonly sent: { bytes: number };
  readonly piece: Buffer;
}

/** Sends this, and then the same piece until its client leaves; nothing of it piles up. */
function sendEndless(contentType: string, head: Buffer, { sent, piece }: Endless): Behaviour {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.write(head);
    const send = (): void => {
      if (response.destroyed) return;
      sent.bytes += piece.length;
      if (response.write(piece)) setImmediate(send);
      else response.once('drain', send);
    };
    send();
  };
}
