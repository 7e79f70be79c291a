/** What happens to several coordinators while they work: an upgrade, and one that stands still. */
import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { programFile } from '../support/bundled-programs.js';
import { startAgents } from '../support/cluster-agents.js';
import { startCluster } from '../support/cluster.js';
import type { Cluster } from '../support/cluster.js';
import { chunks } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { usePostgres } from '../support/postgres.js';
import { expectOk } from '../support/process-gateway.js';
import type { ProcessGateway } from '../support/process-gateway.js';
import type { Script } from '../support/program.js';
import { FULL } from '../support/process-stage.js';
import { until } from '../support/until.js';

const server = usePostgres();
const CALL = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] };
/** Between the calls of a caller. */
const PAUSE_MS = FULL ? 100 : 400;
const JSON_TYPE = { 'content-type': 'application/json' };

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(url));
  return url;
}

async function newServer(): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi({ models: ['m'] });
  onTestFinished(() => fake.close());
  return fake;
}

test('one after the other is upgraded, with a migration of each table: no call fails', async () => {
  const databaseUrl = await newDatabase();
  const fake = await newServer();
  fake.behave(chunks({ count: 8, delayMs: 20 }));
  const cluster = await startCluster({ databaseUrl });
  await startAgents(cluster, { databaseUrl, count: 3, baseUrl: fake.baseUrl, slots: 4 });
  const [{ gateway }] = cluster.nodes;
  const over = new AbortController();
  const answers: string[] = [];
  const call = async (isJob: boolean): Promise<void> => {
    const body = JSON.stringify({ ...CALL, [isJob ? 'async' : 'stream']: true });
    const headers = { ...JSON_TYPE, authorization: `Bearer ${gateway.key}`, connection: 'close' };
    while (!over.signal.aborted) {
      answers.push(await posted(cluster.url, { headers, body }));
      await sleep(PAUSE_MS);
    }
  };
  const calls = [call(false), call(false), call(true), call(true)];
  await until(() => answers.length > 30);
  const script = await nextVersion(databaseUrl);
  for (const node of FULL ? cluster.nodes : cluster.nodes.slice(0, 1)) {
    const other = cluster.nodes.find((one) => one !== node) ?? node;
    expectOk(await other.gateway.admin('node', 'drain', node.name));
    const isEmpty = async (): Promise<boolean> => {
      const nodes = (await other.gateway.ask('node.list', {})) ?? [];
      return nodes.some(({ name, agents }) => name === node.name && agents === 0);
    };
    await until(isEmpty);
    await until(async () => !(await node.gateway.fetch('/readyz')).ok);
    // The front asks five times a second.
    await sleep(1_000);
    node.program?.child.kill('SIGTERM');
    expect((await node.program?.finished)?.code).toBe(0);
    await cluster.start(node, script);
    expectOk(await node.gateway.admin('node', 'resume', node.name));
    await until(async () => (await node.gateway.fetch('/readyz')).ok);
    const before = answers.length;
    await until(() => answers.length > before + 30);
  }
  over.abort();
  await Promise.all(calls);
  const jobs = answers.filter((answer) => answer.startsWith('job '));
  expect(answers.filter((answer) => answer !== 'whole' && !jobs.includes(answer))).toEqual([]);
  for (const job of jobs) await until(async () => (await statusOf(gateway, job)) === 'PROCESSED');
  expect(await tablesOf(databaseUrl)).toContain('of_the_next_version');
}, 180_000);

async function statusOf(gateway: ProcessGateway, job: string): Promise<string> {
  const response = await gateway.fetch(`/v1/jobs/${job.slice('job '.length)}`);
  return ((await response.json()) as { status: string }).status;
}

/** On a connection of its own: what became of it. */
function posted(url: string, sent: { headers: Record<string, string>; body: string }) {
  return new Promise<string>((done) => {
    const options = { method: 'POST', headers: sent.headers, agent: false };
    const asked = request(`${url}/v1/chat/completions`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.once('close', () => {
        const isWhole = text.endsWith('data: [DONE]\n\n') && !text.includes('"error"');
        if (response.statusCode === 202) done(`job ${(JSON.parse(text) as { id: string }).id}`);
        else done(isWhole ? 'whole' : `${response.statusCode} ${text}`);
      });
    });
    asked.once('error', (error) => done(error.message)).end(sent.body);
  });
}

async function tablesOf(databaseUrl: string): Promise<readonly string[]> {
  const client = new Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname`,
  );
  await client.end();
  return rows.map(({ name }) => name);
}

/** The program with one migration more: a new table, and a column in each that there is. */
async function nextVersion(databaseUrl: string): Promise<Script> {
  // Where it finds its dependencies.
  const folder = join('build', `next-version-${process.pid}`);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(dirname(dirname(programFile('gateway-coordinator'))), folder, { recursive: true });
  const tables = (await tablesOf(databaseUrl)).filter((name) => name !== 'schema_version');
  expect(tables.length).toBeGreaterThan(30);
  const columns = tables.map(
    (name) => `alter table ${name} add column of_the_next_version bigint;`,
  );
  const migration = [...columns, 'create table of_the_next_version (id bigint);'].join('\n');
  const migrations = join(folder, 'migrations/postgres');
  const number = String((await readdir(migrations)).length + 1).padStart(4, '0');
  await writeFile(join(migrations, `${number}_next.sql`), migration);
  const file = pathToFileURL(join(folder, 'bin/gateway-coordinator.js'));
  return { file, args: [] };
}

/** The only agent is linked to one of them. */
async function expectAnswersEverywhere({ nodes }: Cluster): Promise<void> {
  for (const { gateway } of nodes) {
    await until(async () => (await gateway.client.models.list()).data.length === 1);
    expect((await gateway.client.chat.completions.create(CALL)).choices).toHaveLength(1);
    let pieces = 0;
    for await (const { choices } of await gateway.client.chat.completions.create({
      ...CALL,
      stream: true,
    })) {
      pieces += choices.length;
    }
    expect(pieces).toBeGreaterThan(1);
  }
}

test('a call at any reaches the agent, and one that stood still changes nothing', async () => {
  const databaseUrl = await newDatabase();
  const fake = await newServer();
  const env = { GATEWAY_PING_S: '0.5', GATEWAY_DEAD_S: '2', GATEWAY_JOB_LEASE_S: '60' };
  const cluster = await startCluster({ databaseUrl, env });
  await startAgents(cluster, { databaseUrl, count: 1, baseUrl: `${fake.origin}/v1`, slots: 2 });
  await expectAnswersEverywhere(cluster);
  fake.requests.length = 0;
  const [first] = cluster.nodes;
  const holdersAt = async (node: typeof first): Promise<readonly string[]> => {
    const nodes = (await node.gateway.ask('node.list', {})) ?? [];
    return nodes.filter(({ agents }) => agents === 1).map(({ name }) => name);
  };
  const [held] = await until(async () => {
    const holders = await holdersAt(first);
    return holders.length === 1 ? holders : null;
  });
  const holder = cluster.nodes.find(({ name }) => name === held) ?? first;
  const other = cluster.nodes.find((node) => node !== holder) ?? first;
  fake.behave(chunks({ count: 400, delayMs: 20 }));
  const body = JSON.stringify({ ...CALL, async: true });
  const sent = { method: 'POST', headers: JSON_TYPE, body };
  const submitted = await other.gateway.fetch('/v1/chat/completions', sent);
  const { id } = (await submitted.json()) as { id: string };
  await until(() => fake.requests.length === 1);
  holder.program?.child.kill('SIGSTOP');
  onTestFinished(() => void holder.program?.child.kill('SIGCONT'));
  const moved = async (): Promise<boolean> =>
    (await holdersAt(other)).some((name) => name !== holder.name);
  await until(moved, { timeoutMs: 60_000 });
  holder.program?.child.kill('SIGCONT');
  const job = async (): Promise<{ status: string; attempts: number }> => {
    return (await (await other.gateway.fetch(`/v1/jobs/${id}`)).json()) as never;
  };
  await until(async () => (await job()).status === 'PROCESSED', { timeoutMs: 60_000 });
  expect(await job()).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  expect(fake.requests).toHaveLength(1);
}, 180_000);
