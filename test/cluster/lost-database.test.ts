/** Coordinators that are cut off from their database, or lose it to another one. */
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BlackHole } from '../support/black-hole.js';
import { chunks, document } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { onServer, usePostgres } from '../support/postgres.js';
import { expectOk, freePort, ProcessGateway } from '../support/process-gateway.js';
import { startProgram } from '../support/program.js';
import type { RunningProgram } from '../support/program.js';
import { runCommand } from '../support/run-command.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const server = usePostgres();
const CALL = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] };
/** A stream of 8 s, longer than a coordinator takes calls without an answer of its database. */
const CHUNK_MS = 100;
const CHUNKS = 80;
const LEASE_S = 4;
const POOL = 10;
const SLOW_MS = 500;
/** On a machine that runs other tests at the same time. */
const TIMEOUT_MS = 120_000;

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(url));
  return url;
}

interface Stage {
  readonly gateway: ProcessGateway;
  readonly coordinator: RunningProgram;
  readonly fake: FakeModelServer;
  readonly line: BlackHole;
  readonly url: string;
  /** The status of a call, and of the submission of a job. */
  readonly call: () => Promise<number>;
  readonly submit: () => Promise<{ readonly status: number; readonly id: string }>;
  readonly job: (id: string) => Promise<{ readonly status: string; readonly attempts: number }>;
}

/** A coordinator with an agent, and a line to its database that can be cut. */
async function openStage(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const url = await newDatabase();
  const fake = await startFakeOpenAi({ models: ['m'] });
  onTestFinished(() => fake.close());
  const line = await new BlackHole().listen(Number(new URL(url).port));
  const throughLine = Object.assign(new URL(url), { port: String(line.port) }).href;
  const gateway = new ProcessGateway(await temporaryFolder(), await freePort(), {
    GATEWAY_DATABASE_URL: throughLine,
    ...env,
  });
  const coordinator = await gateway.startCoordinator();
  await gateway.setUp([{ type: 'llm', backend: 'openai', base_url: fake.baseUrl, slots: 4 }]);
  await gateway.startAgent().online;
  const post = async (body: object): Promise<{ status: number; id: string }> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await gateway.fetch('/v1/chat/completions', init);
    const { id } = (await response.json()) as { id: string };
    return { status: response.status, id };
  };
  return {
    gateway,
    coordinator,
    fake,
    line,
    url,
    call: async () => (await post(CALL)).status,
    submit: () => post({ ...CALL, async: true }),
    job: async (id) => {
      const response = await gateway.fetch(`/v1/jobs/${id}`);
      return (await response.json()) as { status: string; attempts: number };
    },
  };
}

describe('a coordinator that is cut off from its database', () => {
  test(
    'goes on with streams, takes no new call after 3 s, and is back by itself',
    async () => {
      const { gateway, coordinator, fake, line, call } = await openStage();
      const ready = async (): Promise<number> => (await gateway.fetch('/readyz')).status;
      expect(await call()).toBe(200);

      fake.behave(chunks({ count: CHUNKS, delayMs: CHUNK_MS }));
      let pieces = 0;
      const streamed = (async () => {
        for await (const { choices } of await gateway.client.chat.completions.create({
          ...CALL,
          stream: true,
        }))
          pieces += choices.length;
      })();
      await until(() => pieces > 2);
      fake.behave(document());
      const cutAt = performance.now();
      line.goDark('both ways');
      await until(async () => (await call()) === 503);
      expect(performance.now() - cutAt).toBeGreaterThan(1_000);
      await until(async () => (await ready()) === 503);
      const askedAt = performance.now();
      for (let i = 0; i < 5; i++) expect(await call()).toBe(503);
      expect(performance.now() - askedAt).toBeLessThan(2_000);
      const before = pieces;
      await until(() => pieces > before + 3);

      line.heal();
      await until(async () => (await call()) === 200);
      expect(await ready()).toBe(200);
      await streamed;
      expect(pieces).toBeGreaterThanOrEqual(CHUNKS);
      expect(coordinator.child.exitCode).toBeNull();
    },
    TIMEOUT_MS,
  );

  test(
    'for longer than a lease loses no job, and tries none again',
    async () => {
      const { fake, line, submit, job } = await openStage({ GATEWAY_JOB_LEASE_S: String(LEASE_S) });
      fake.behave(document({ delayMs: 3 * LEASE_S * 1_000 }));
      const running = await Promise.all([submit(), submit(), submit()]);
      await until(async () => {
        const jobs = await Promise.all(running.map(({ id }) => job(id)));
        return jobs.every(({ status }) => status === 'PROCESSING');
      });
      // The last slot is kept for calls.
      const waiting = await submit();
      const statuses = [...running, waiting].map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([202]));
      line.goDark('both ways');
      const cutAt = performance.now();
      await until(async () => (await submit()).status === 503);
      await until(() => performance.now() - cutAt > (LEASE_S + 2) * 1_000);
      fake.behave(document());
      line.cut();
      line.heal();
      for (const { id } of [...running, waiting]) {
        await until(async () => (await job(id)).status === 'PROCESSED');
        expect(await job(id)).toMatchObject({ attempts: 1 });
      }
    },
    TIMEOUT_MS,
  );
});

test(
  'a server that takes 500 ms a statement slows jobs and calls, and refuses none',
  async () => {
    const { line, call, submit, job } = await openStage();
    expect(await call()).toBe(200);
    line.delay(SLOW_MS / 2);
    const submitted = await Promise.all([submit(), submit(), submit()]);
    expect(submitted.map(({ status }) => status)).toEqual([202, 202, 202]);
    // A call is checked and placed by what is known here.
    for (let i = 0; i < 5; i++) expect(await call()).toBe(200);
    for (const { id } of submitted) {
      await until(async () => (await job(id)).status === 'PROCESSED');
      expect(await job(id)).toMatchObject({ attempts: 1 });
    }
  },
  TIMEOUT_MS,
);

test('a pool whose connections all wait delays jobs, and neither calls nor checks', async () => {
  const { url, call, submit, job } = await openStage();
  expect(await call()).toBe(200);
  const first = await submit();
  const submitted = await onServer(url, async (sql) => {
    await sql.rows('begin');
    await sql.rows('lock table jobs in access exclusive mode');
    const all = Array.from({ length: 20 }, () => submit());
    // Submissions of one member use one connection, and each reading another.
    const read = Array.from({ length: 20 }, () => job(first.id));
    const blocked = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await until(() =>
      onServer(url, async (other) => (await other.rows(blocked)).length >= POOL - 1),
    );
    for (let i = 0; i < 5; i++) expect(await call()).toBe(200);
    await sql.rows('commit');
    await Promise.all(read);
    return Promise.all(all);
  });
  for (const { status, id } of submitted) {
    expect(status).toBe(202);
    await until(async () => (await job(id)).status === 'PROCESSED');
  }
});

/** Of the connection by which a coordinator has its name. */
const NAME_HOLDERS = `select pg_terminate_backend(pid, 5000) from pg_locks
  where locktype = 'advisory' and classid = 738202 and granted
    and database = (select oid from pg_database where datname = current_database())`;

test('a coordinator whose name another one has taken drains, and exits with 7', async () => {
  const url = await newDatabase();
  const gateway = new ProcessGateway(await temporaryFolder(), await freePort(), {
    GATEWAY_DATABASE_URL: url,
  });
  const first = await gateway.startCoordinator();
  const data = join(await temporaryFolder(), 'data');
  const args = ['start', '--port', '0', '--data', data];
  const second = startProgram('gateway-coordinator', args, {
    env: { GATEWAY_DATABASE_URL: url },
  });
  // Else the first one would take its name back.
  first.child.kill('SIGSTOP');
  await onServer(url, (sql) => sql.rows(NAME_HOLDERS));
  await second.printed(/listening on (\S+)/);
  first.child.kill('SIGCONT');
  const { code, stderr } = await first.finished;
  expect(code).toBe(7);
  expect(stderr).toContain('another coordinator of the same name uses the database');
  expectOk(await runCommand('gateway-coordinator', ['user', 'list', '--data', data]));
});
