/**
 * A process gateway that needs only the time of one start: its member, key and agents are written
 * directly to the places where the command lines would write them.
 */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { newSecret } from '@inference-gateway/shared/ids';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getJob } from '../api/job-calls.js';
import { administer } from '../api/requests.js';
import type { FakeModelServer } from './fake-model-server.js';
import { freePort, ProcessGateway } from './process-gateway.js';
import type { RunningProgram } from './program.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';
import { query } from './usage-rows.js';

/** Whether to use the full durations and counts, which take minutes. */
export const FULL = process.env['FAULTS'] === 'full';

const HOUR_MS = 3_600_000;
const JOIN_TOKENS = 16;

export class Stage extends ProcessGateway {
  readonly #joinTokens: string[] = [];

  async seed(): Promise<void> {
    const store = await openStore(this.dataDir);
    const now = Date.now();
    const anna = { email: 'anna@example.org', name: 'Anna', role: 'member' } as const;
    const made = await store.createMember({ ...anna, passwordHash: null }, now);
    if (made.kind !== 'created') throw new Error('Anna is there already');
    const { id: memberId } = made.value;
    this.key = newSecret('gwk');
    const key = { name: 'test', prefix: 'gwk_test', scope: 'any', expiresAt: null } as const;
    await store.createKey({ ...key, memberId, hash: hashSecret(this.key) }, now);
    for (let i = 0; i < JOIN_TOKENS; i++) {
      const token = newSecret('gwj');
      const expiresAt = now + HOUR_MS;
      const row = { ownerId: memberId, name: null, hash: hashSecret(token), replaces: null };
      await store.createJoinToken({ ...row, expiresAt }, now);
      this.#joinTokens.push(token);
    }
    await store.close();
  }

  override async enroll(name: string, services: readonly object[], url = this.url): Promise<void> {
    const config = this.configOf(name);
    await writeFile(`${config}.token`, await this.agentToken(name), { mode: 0o600 });
    await writeFile(config, JSON.stringify({ url, name, services }));
  }

  /** Enrolls a provider and returns its agent's token. */
  async agentToken(name: string): Promise<string> {
    const response = await fetch(`${this.url}/agent/v1/enroll`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#joinTokens.pop()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name }),
    });
    const answer = (await response.json()) as { token: string };
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer.token;
  }

  /** Enrolls an agent with these services, and resolves once it is online. */
  async joined(name: string, services: readonly object[], url = this.url) {
    await this.enroll(name, services, url);
    const agent = this.startAgent(name);
    await agent.online;
    return agent;
  }

  /** The names of the agents that are online now. */
  async online(): Promise<string[]> {
    const found: unknown = await administer(this, 'provider.list', {});
    const providers = found as readonly { name: string; online: boolean }[];
    return providers.flatMap(({ name, online }) => (online ? [name] : []));
  }

  /** Makes jobs that wait for their next attempt runnable now. */
  async requeue(): Promise<void> {
    await administer(this, 'queue.requeue-stuck', {});
  }

  /** Whether all are done; lets those that wait for their next attempt run now. */
  async areDone(jobIds: readonly string[]): Promise<boolean> {
    const jobs = await Promise.all(jobIds.map((id) => getJob(this, id)));
    if (jobs.some(({ status }) => status === 'QUEUED')) await this.requeue();
    return jobs.every(({ status }) => status === 'PROCESSED');
  }

  /** The `.json` files of complete answers that an agent has on disk; each has a `.data` file. */
  async spooled(name: string): Promise<string[]> {
    const folder = join(`${this.configOf(name)}.state`, 'spool');
    return (await readdir(folder)).filter((file) => file.endsWith('.json'));
  }
}

/** A stage with a running coordinator and no agents. */
export async function startStage(
  env: Readonly<Record<string, string>> = {},
): Promise<{ gateway: Stage; coordinator: RunningProgram }> {
  const gateway = await newStage(env);
  return { gateway, coordinator: await gateway.startCoordinator() };
}

/** A stage whose coordinator is not started yet. */
export async function newStage(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const gateway = new Stage(await temporaryFolder(), await freePort(), env);
  await gateway.seed();
  return gateway;
}

/** A fake server's entry in an agent's configuration. */
export function serviceOf(
  { baseUrl }: FakeModelServer,
  models: readonly string[],
  { type = 'llm', slots = 4 }: { type?: string; slots?: number } = {},
): object {
  const listed = models.map((id) => ({ id }));
  return { type, backend: 'openai', base_url: baseUrl, slots, models: listed };
}

/** Fails if the database is damaged, or has orphaned rows or wrong sums. */
export function expectSound(gateway: Stage): void {
  const faults = [
    ...query<object>(gateway, `select * from pragma_integrity_check where integrity_check <> 'ok'`),
    ...query<object>(gateway, 'select * from pragma_foreign_key_check'),
    ...query<object>(gateway, ORPHANS),
  ];
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
}

/** Rows without the job that they belong to; counts that differ from their rows. */
const ORPHANS = `
  select 'result' as kind, job_id as id from job_results
    where job_id not in (select id from jobs where status = 'PROCESSED')
  union all select 'file of a job', job_id from job_assets
    where job_id not in (select id from jobs where status = 'PROCESSED')
  union all select 'body', job_id from job_bodies
    where job_id in (select id from jobs where status = 'PROCESSED')
  union all select 'job without a body', id from jobs
    where status <> 'PROCESSED' and id not in (select job_id from job_bodies)
  union all select 'job without a result', id from jobs where status = 'PROCESSED'
    and id not in (select job_id from job_results union select job_id from job_assets)
  union all select 'file of no job', id from assets
    where request_id in (select request_id from jobs)
      and id not in (select asset_id from job_assets)
  union all select 'count', model from queue_counts where queued + processing <>
    (select count(*) from jobs where status in ('QUEUED', 'PROCESSING')
      and jobs.member_id = queue_counts.member_id and jobs.model = queue_counts.model
      and jobs.service_type = queue_counts.service_type)`;

/** Fails unless the queue becomes empty and a synchronous call gets a slot. */
export async function expectIdle(gateway: Stage, model: string): Promise<void> {
  const idle = async () => {
    const response = await gateway.fetch('/api/inference/queue/summary');
    const { queued, processing } = (await response.json()) as Record<string, number>;
    return queued === 0 && processing === 0;
  };
  await until(idle, { what: 'an empty queue' });
  const messages = [{ role: 'user' as const, content: 'are you there?' }];
  await gateway.client.chat.completions.create({ model, messages });
}
