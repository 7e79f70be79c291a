/** Agents in this process that link to a cluster through its front. */
import { Agent } from '@inference-gateway/agent/agent';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { newSecret } from '@inference-gateway/shared/ids';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { onTestFinished } from 'vitest';
import type { Cluster } from './cluster.js';
import { toService } from './gateway.js';
import { expectOk } from './process-gateway.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';

const silent = createLogger('silent');

interface Machines {
  readonly databaseUrl: string;
  readonly count: number;
  /** Of the model server that all of them have. */
  readonly baseUrl: string;
  readonly slots: number;
}

/** Makes a member with a key, and agents of hers, all online. */
export async function startAgents(cluster: Cluster, machines: Machines): Promise<void> {
  const [first, ...others] = cluster.nodes;
  const { gateway } = first;
  expectOk(await gateway.admin('user', 'create', '--email', 'anna@example.org', '--name', 'Anna'));
  const user = ['--user', 'anna@example.org'];
  const key = await gateway.admin('key', 'create', ...user, '--name', 'test');
  gateway.key = expectOk(key).stdout.trim();
  for (const node of others) node.gateway.key = gateway.key;
  const agents = (await enroll(machines)).map((token, index) => {
    const { baseUrl, slots } = machines;
    return new Agent({
      url: cluster.url,
      token,
      name: `pc-${index}`,
      services: [toService({ baseUrl, slots })],
      host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
      logger: silent,
      once: false,
      ffmpeg: null,
    });
  });
  onTestFinished(async () => void (await Promise.all(agents.map((agent) => agent.drain()))));
  await Promise.all(agents.map((agent) => agent.start()));
  const areOnline = async (): Promise<boolean> => {
    return (await linkedAgents(cluster)).length === machines.count;
  };
  await until(areOnline);
}

/** Names of agents that all coordinators that run know as online, wherever they are linked. */
export async function linkedAgents({ nodes }: Cluster): Promise<readonly string[]> {
  const running = nodes.filter(({ program }) => program !== null);
  const known = running.map(async ({ gateway }) => {
    const providers = (await gateway.ask('provider.list', {})) ?? [];
    return providers.filter(({ online }) => online).map(({ name }) => name);
  });
  const [first = [], ...others] = await Promise.all(known);
  return first.filter((name) => others.every((other) => other.includes(name)));
}

async function enroll({ databaseUrl, count }: Machines): Promise<readonly string[]> {
  const store = await openStore(await temporaryFolder(), { databaseUrl });
  const [owner] = await store.listMembers();
  const now = Date.now();
  const tokens: string[] = [];
  for (let i = 0; i < count; i++) {
    const [join, token] = [newSecret('gwj'), newSecret('gwa')];
    const row = { ownerId: owner?.id ?? '', name: null, replaces: null, hash: hashSecret(join) };
    await store.createJoinToken({ ...row, expiresAt: now + 3_600_000 }, now);
    const hashes = { joinTokenHash: hashSecret(join), tokenHash: hashSecret(token) };
    const { kind } = await store.enroll({ ...hashes, name: `pc-${i}`, approved: true }, now);
    if (kind !== 'created') throw new Error(kind);
    tokens.push(token);
  }
  await store.close();
  return tokens;
}
