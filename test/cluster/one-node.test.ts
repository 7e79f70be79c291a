/** One coordinator on PostgreSQL, as its users run it. */
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { document } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startNode } from '../support/cluster-pair.js';
import { onServer, usePostgres } from '../support/postgres.js';
import { ProcessGateway, expectOk, freePort } from '../support/process-gateway.js';
import type { RunningProgram } from '../support/program.js';
import { runCommand } from '../support/run-command.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { certificateFile } from '../support/tls-front.js';
import { until } from '../support/until.js';

const server = usePostgres({ ownServer: true });
/** Of each caller, between an answer and the next job. */
const PACE_MS = 50;
const MESSAGES = [{ role: 'user' as const, content: 'hello' }];

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase({ isEmpty: true });
  onTestFinished(() => server().dropDatabase(url));
  return url;
}

async function newGateway(
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ProcessGateway> {
  const env = { GATEWAY_DATABASE_URL: databaseUrl, ...settings };
  return new ProcessGateway(await temporaryFolder(), await freePort(), env);
}

async function fakeServer(): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi({ models: ['m'] });
  onTestFinished(() => fake.close());
  return fake;
}

const serviceOf = ({ baseUrl }: FakeModelServer) => ({
  type: 'llm',
  backend: 'openai',
  base_url: baseUrl,
  slots: 4,
});

interface Submitted {
  readonly id: string;
}

/** The status of the answer, and the job if it was accepted. */
async function submit(gateway: ProcessGateway): Promise<{ status: number; job: Submitted | null }> {
  const body = JSON.stringify({ model: 'm', messages: MESSAGES, async: true });
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.fetch('/v1/chat/completions', { method: 'POST', headers, body });
  const submitted = (await response.json()) as Submitted;
  return { status: response.status, job: response.status === 202 ? submitted : null };
}

async function statusOf(gateway: ProcessGateway, id: string): Promise<string> {
  const response = await gateway.fetch(`/v1/jobs/${id}`);
  return ((await response.json()) as { status: string }).status;
}

async function ended(coordinator: RunningProgram): Promise<void> {
  coordinator.child.kill();
  expect((await coordinator.finished).code).toBe(0);
}

/** The exit code and what was written to stderr. */
async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly [number | null, string]> {
  const data = join(await temporaryFolder(), 'data');
  const words = ['start', '--port', '0', '--data', data, ...args];
  const { code, stderr } = await runCommand('gateway-coordinator', words, { env });
  return [code, stderr];
}

describe('a coordinator on PostgreSQL', () => {
  test('refuses requests beyond the limit of their member, and says until when', async () => {
    const gateway = await newGateway(await newDatabase(), { GATEWAY_RATE_LIMIT_REQUESTS: '40' });
    await gateway.startCoordinator();
    await gateway.setUp([]);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => gateway.fetch('/v1/models')),
    );
    const told = (name: string) => answers.map(({ headers }) => Number(headers.get(name)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    expect(new Set(told('x-ratelimit-limit'))).toEqual(new Set([40]));
    expect(Math.max(...told('x-ratelimit-remaining'))).toBeLessThan(40);
    expect(Math.min(...told('x-ratelimit-remaining'))).toBe(0);
    const waits = answers.flatMap(({ headers }) => headers.get('retry-after') ?? []);
    expect(waits).toHaveLength(10);
    expect(Math.min(...waits.map(Number))).toBeGreaterThan(50);
  });

  test('serves calls and jobs, and after a kill still knows all that it answered', async () => {
    const fake = await fakeServer();
    const gateway = await newGateway(await newDatabase());
    const first = await gateway.startCoordinator();
    await gateway.setUp([serviceOf(fake)]);
    const agent = gateway.startAgent();
    await agent.online;
    const { client } = gateway;
    const call = { model: 'm', messages: MESSAGES };
    expect((await client.chat.completions.create(call)).choices).toHaveLength(1);
    let pieces = 0;
    for await (const { choices } of await client.chat.completions.create({ ...call, stream: true }))
      pieces += choices.length;
    expect(pieces).toBeGreaterThan(1);
    const { job } = await submit(gateway);
    if (job === null) throw new Error('the job was not accepted');
    await until(async () => (await statusOf(gateway, job.id)) === 'PROCESSED');
    const stats = async (): Promise<string> =>
      expectOk(await gateway.admin('stats', '--by', 'model')).stdout;
    await until(async () => /m\s+3\b/.test(await stats()));

    first.child.kill('SIGKILL');
    await first.finished;
    await gateway.startCoordinator();
    expect(await statusOf(gateway, job.id)).toBe('PROCESSED');
    expect(await stats()).toMatch(/m\s+3\b/);
    // It tries again after growing waits while the coordinator starts.
    await until(async () => {
      const providers = (await gateway.ask('provider.list', {})) ?? [];
      return providers.some(({ online }) => online);
    });
    expect((await client.chat.completions.create(call)).choices).toHaveLength(1);
  });

  test('loses no job that it has accepted when the server is killed, and answers 503', async () => {
    const { restart } = server();
    // A server of others is not killed.
    if (restart === null) return;
    const fake = await fakeServer();
    fake.behave(document({ delayMs: 20 }));
    const gateway = await newGateway(await newDatabase());
    await gateway.startCoordinator();
    await gateway.setUp([serviceOf(fake)]);
    await gateway.startAgent().online;
    const accepted: string[] = [];
    const statuses = new Set<number>();
    const over = new AbortController();
    const caller = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const { status, job } = await submit(gateway);
        statuses.add(status);
        if (job !== null) accepted.push(job.id);
        await sleep(PACE_MS);
      }
    };
    const callers = Promise.all([caller(), caller(), caller(), caller()]);
    await until(() => accepted.length >= 20);
    await restart();
    const before = accepted.length;
    await until(() => accepted.length >= before + 20);
    over.abort();
    await callers;
    for (const status of statuses) expect([202, 503]).toContain(status);
    for (const id of accepted) {
      await until(async () => (await statusOf(gateway, id)) === 'PROCESSED');
    }
    expect(new Set(accepted).size).toBe(accepted.length);
  });

  test('is the only one of its name, and of its folder', async () => {
    const url = await newDatabase();
    const gateway = await newGateway(url);
    await gateway.startCoordinator();
    const named = async (name: string) => {
      const env = { GATEWAY_DATABASE_URL: url, GATEWAY_NODE_NAME: name };
      return start([], env);
    };
    const name = hostname().toLowerCase();
    const [same, other] = await Promise.all([named(name), named('other')]);
    expect(same).toEqual([7, expect.stringContaining(`'${name}' uses postgres://`)]);
    expect(other).toEqual([7, expect.stringContaining('this one has no GATEWAY_NODE_URL')]);
  });
});

describe('a folder', () => {
  test('keeps its kind of database: neither hides what the other holds', async () => {
    const url = await newDatabase();
    const gateway = await newGateway(url);
    const coordinator = await gateway.startCoordinator();
    coordinator.child.kill();
    await coordinator.finished;
    const mark = join(gateway.dataDir, 'database-url');
    expect(await readFile(mark, 'utf8')).not.toContain('secret');
    const list = ['user', 'list', '--data', gateway.dataDir];
    const onSqlite = await runCommand('gateway-coordinator', list);
    expect([onSqlite.code, onSqlite.stderr]).toEqual([
      2,
      expect.stringContaining('set GATEWAY_DATABASE_URL'),
    ]);
    const env = { GATEWAY_DATABASE_URL: url };
    expect((await runCommand('gateway-coordinator', list, { env })).code).toBe(0);

    const other = await temporaryFolder();
    const made = ['user', 'create', '--email', 'a@example.org', '--name', 'a', '--data', other];
    expectOk(await runCommand('gateway-coordinator', made));
    const onPostgres = await runCommand('gateway-coordinator', ['start', '--data', other], { env });
    expect([onPostgres.code, onPostgres.stderr]).toEqual([
      2,
      expect.stringContaining('holds gateway.db'),
    ]);
  });

  test('is refused by another gateway’s database, whose sweep would delete its files', async () => {
    const [url, other] = [await newDatabase(), await newDatabase()];
    const gateway = await newGateway(url);
    const startOn = (databaseUrl: string) =>
      new ProcessGateway(gateway.folder, gateway.port, {
        GATEWAY_DATABASE_URL: databaseUrl,
      }).startCoordinator();
    await ended(await startOn(url));
    const folder = join(gateway.dataDir, 'assets', 'aa');
    const file = join(folder, 'a'.repeat(22));
    await mkdir(folder, { recursive: true });
    await writeFile(file, 'made by a model');
    const hoursAgo = Date.now() / 1_000 - 7_200;
    await utimes(file, hoursAgo, hoursAgo);
    const listed = await runCommand(
      'gateway-coordinator',
      ['user', 'list', '--data', gateway.dataDir],
      {
        env: { GATEWAY_DATABASE_URL: other },
      },
    );
    expectOk(listed);
    await expect(startOn(other)).rejects.toThrow('holds files of another gateway');
    expect(await readFile(file, 'utf8')).toBe('made by a model');
    await rm(file);
    await ended(await startOn(other));
    expect(await readFile(join(gateway.dataDir, 'database-url'), 'utf8')).toContain(
      new URL(other).pathname,
    );
  });
});

describe('the URL of a database', () => {
  test('has no password in the arguments, and is in one place', async () => {
    const secret = 'postgres://gateway:secret@127.0.0.1:9/x';
    const [code, stderr] = await start(['--database', secret]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--database has a password')]);
    expect(stderr).not.toContain('secret@');
    const file = join(await temporaryFolder(), 'url');
    await writeFile(file, secret);
    const both = { GATEWAY_DATABASE_URL: secret, GATEWAY_DATABASE_URL_FILE: file };
    expect(await start([], both)).toEqual([2, expect.stringContaining('are both set')]);
    expect(await start([], { GATEWAY_DATABASE_URL: 'mysql://a/b' })).toEqual([
      2,
      expect.stringContaining('GATEWAY_DATABASE_URL is not usable: allowed is postgres://'),
    ]);
    expect(await start([], { GATEWAY_DATABASE_URL_FILE: `${file}.none` })).toEqual([
      3,
      expect.stringContaining('cannot read the file of the database URL'),
    ]);
  });

  test('that nobody answers, or that names no database, ends the start with a reason', async () => {
    const [code, stderr] = await start(['--database', 'postgres://gateway@127.0.0.1:9/none']);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot use the database postgres://gateway@127.0.0.1:9/none');
    expect(stderr).toContain('Start PostgreSQL there, or correct the URL.');
    const unknown = new URL(server().adminUrl);
    unknown.pathname = 'nowhere';
    const missing = await start(['--database', unknown.href]);
    expect(missing).toEqual([
      3,
      expect.stringContaining('"nowhere" does not exist. Create it, or correct the URL.'),
    ]);
  });

  test('of a user without rights is told as such, and nothing is changed', async () => {
    const url = await newDatabase();
    const name = `stranger_${process.pid}`;
    await onServer(url, (sql) => sql.rows(`create role ${name} login`));
    onTestFinished(async () => {
      await onServer(url, (sql) => sql.rows(`drop role ${name}`));
    });
    const asStranger = new URL(url);
    asStranger.username = name;
    const [code, stderr] = await start(['--database', asStranger.href]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/permission denied .* Make the user the owner of it\.$/m);
    const read = "select 1 from pg_tables where schemaname = 'public'";
    const tables = await onServer(url, (sql) => sql.rows(read));
    expect(tables).toHaveLength(0);
  });

  test('may ask for TLS, with a certificate that is checked', async () => {
    // A server of others has a certificate of its own.
    if (server().restart === null) return;
    const url = new URL(await newDatabase());
    url.searchParams.set('sslmode', 'verify-full');
    const data = join(await temporaryFolder(), 'data');
    const made = ['user', 'create', '--email', 'a@example.org', '--name', 'a', '--data', data];
    const env = { GATEWAY_DATABASE_URL: url.href };
    const refused = await runCommand('gateway-coordinator', made, { env });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('self-signed')]);
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: certificateFile('good') };
    expectOk(await runCommand('gateway-coordinator', made, { env: trusting }));
    const named = { GATEWAY_DATABASE_URL: `${url.href}&sslrootcert=${certificateFile('good')}` };
    const list = ['user', 'list', '--data', data];
    expect(
      expectOk(await runCommand('gateway-coordinator', list, { env: named })).stdout,
    ).toContain('a@example.org');
  });

  test('may be in a file, and the doctor names the server and its schema', async () => {
    const url = await newDatabase();
    const folder = await temporaryFolder();
    const file = join(folder, 'url');
    await writeFile(file, `${url}\n`);
    const env = { GATEWAY_DATABASE_URL_FILE: file };
    const data = join(folder, 'data');
    const made = ['user', 'create', '--email', 'a@example.org', '--name', 'a', '--data', data];
    expectOk(await runCommand('gateway-coordinator', made, { env }));
    const doctor = await runCommand('gateway-coordinator', ['doctor', '--data', data], { env });
    expect(doctor.stdout).toMatch(/PASS\tdatabase\tpostgres:\/\/\S+, PostgreSQL \d+/);
    expect(doctor.stdout).toMatch(/PASS\tschema\t\d+\b/);
    expect(doctor.stdout).toMatch(/PASS\tnodes\tno other coordinator runs beside \S+/);
    const status = ['migrate', '--status', '--data', data];
    expect((await runCommand('gateway-coordinator', status, { env })).code).toBe(0);
    const backup = ['backup', '-o', join(folder, 'x.tar'), '--data', data];
    const refused = await runCommand('gateway-coordinator', backup, { env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('pg_dump')]);
  });

  test('has its running coordinators in the doctor, which warns of one without URL', async () => {
    const url = await newDatabase();
    const north = await startNode('north', url);
    const data = join(await temporaryFolder(), 'data');
    const named = { GATEWAY_DATABASE_URL: url, GATEWAY_NODE_NAME: 'south' };
    const nodesOf = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
      const words = ['doctor', '--json', '--data', data];
      const { stdout } = await runCommand('gateway-coordinator', words, { env });
      const checks = JSON.parse(stdout) as { id: string; status: string; found: string }[];
      const check = checks.find(({ id }) => id === 'nodes');
      return [check?.status, check?.found];
    };
    const runs = 'north runs beside south';
    const lacks = `${runs}; without GATEWAY_NODE_URL: south`;
    expect(await nodesOf(named)).toEqual(['WARN', lacks]);
    const reachable = { ...named, GATEWAY_NODE_URL: 'wss://127.0.0.1:7071' };
    expect(await nodesOf(reachable)).toEqual(['PASS', runs]);
    // Its own row says more than the settings of a shell.
    const itself = { ...named, GATEWAY_NODE_NAME: 'north' };
    expect(await nodesOf(itself)).toEqual(['PASS', 'no other coordinator runs beside north']);
    await north.stop();
    expect(await nodesOf(named)).toEqual(['PASS', 'no other coordinator runs beside south']);
    await startNode('north', url, { nodeUrl: null, nodeListen: null });
    const other = `${runs}; without GATEWAY_NODE_URL: north`;
    expect(await nodesOf(reachable)).toEqual(['WARN', other]);
  });
});
