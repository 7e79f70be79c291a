/**
 * Three coordinators of one database on PostgreSQL, with one agent that is linked to the first of
 * them; and one coordinator of another database, alone with its own agent.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { BENCH_MODEL } from '../load/job.js';
import { freePort } from '../subjects/free-port.js';
import { startCoordinator, startGateway } from '../subjects/gateway.js';
import type { GatewayServices } from '../subjects/gateway.js';
import type { Subject, Surroundings } from '../subjects/subject.js';
import { startFront } from './front.js';
import type { Front } from './front.js';

/** As many slots as a link carries, so that no request waits for one. */
const SERVICES: GatewayServices = { llm: 1_024 };
const READY_WITHIN_MS = 30_000;
const READY_POLL_MS = 50;

export interface Cluster {
  /**
   * `local`: the coordinator with the agent; `hop`: another one; `one`: the coordinator that is
   * alone; `three`: all three in turn. The last two are behind a front.
   */
  readonly subjects: readonly Subject[];
  close(): void;
}

export async function startCluster(surroundings: Surroundings, server: string): Promise<Cluster> {
  const shared = await newDatabase(server, 'bench_cluster');
  const near = await startGateway(inFolder(surroundings, 'near'), SERVICES, {
    GATEWAY_DATABASE_URL: shared,
    ...(await asNode('near')),
  });
  const { headers } = near;
  const others: Subject[] = [];
  for (const name of ['far', 'third']) {
    const { folder, nodeFlags } = inFolder(surroundings, name);
    const env = { GATEWAY_DATABASE_URL: shared, ...(await asNode(name)) };
    const [data, log] = [join(folder, 'data'), join(folder, 'coordinator.log')];
    const { ready: origin, pid } = await startCoordinator({ nodeFlags, data, log, env });
    others.push({ name, origin, headers, pids: { [name]: pid }, isPeer: false });
  }
  for (const other of others) await untilItServes(other);
  const alone = await startGateway(inFolder(surroundings, 'alone'), SERVICES, {
    GATEWAY_DATABASE_URL: await newDatabase(server, 'bench_alone'),
  });
  const fronts = [
    await startFront([alone.origin]),
    await startFront([near, ...others].map(({ origin }) => origin)),
  ] as const;
  return { subjects: subjectsOf({ near, others, alone }, fronts), close: () => closeAll(fronts) };
}

interface Started {
  readonly near: Subject;
  readonly others: readonly Subject[];
  readonly alone: Subject;
}

/** With the processes whose CPU time counts: coordinators alone. */
function subjectsOf(
  { near, others, alone }: Started,
  [ofOne, ofThree]: readonly [Front, Front],
): readonly Subject[] {
  const local = { ...near, name: 'local', pids: coordinatorOf(near) };
  const [far = local] = others;
  const all = others.reduce((pids, other) => ({ ...pids, ...other.pids }), local.pids);
  return [
    local,
    { ...far, name: 'hop', pids: { ...local.pids, ...far.pids } },
    { ...alone, name: 'one', origin: ofOne.origin, pids: coordinatorOf(alone) },
    { ...near, name: 'three', origin: ofThree.origin, pids: all },
  ];
}

/** Without its agent. */
function coordinatorOf({ pids }: Subject): Subject['pids'] {
  return { near: pids['coordinator'] ?? 0 };
}

function closeAll(fronts: readonly Front[]): void {
  for (const front of fronts) front.close();
}

function inFolder(surroundings: Surroundings, name: string): Surroundings {
  const folder = join(surroundings.folder, name);
  mkdirSync(folder);
  return { ...surroundings, folder };
}

async function asNode(name: string): Promise<Record<string, string>> {
  const address = `127.0.0.1:${await freePort()}`;
  return {
    GATEWAY_NODE_NAME: name,
    GATEWAY_NODE_URL: `wss://${address}`,
    GATEWAY_NODE_LISTEN: address,
  };
}

async function newDatabase(server: string, name: string): Promise<string> {
  const unique = `${name}_${process.pid}`;
  await onConnection(server, (connection) => {
    return connection.query({ text: `create database ${unique}` });
  });
  return Object.assign(new URL(server), { pathname: unique }).href;
}

/** It knows the agent of the other coordinator. */
async function untilItServes({ origin, headers }: Subject): Promise<void> {
  const end = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const response = await fetch(`${origin}/v1/models`, { headers });
    if ((await response.text()).includes(`"${BENCH_MODEL}"`)) return;
    if (performance.now() > end) throw new Error(`${origin} does not know the agent`);
    await sleep(READY_POLL_MS);
  }
}
