import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { NodeRow } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';

const KEY_BYTES = 32;

const oneNode = z.strictObject({ node: z.string() });

/** The coordinators of the database: one on SQLite. */
export const listNodes = adminRead(z.strictObject({}), async (context) => {
  const linked = context.linkedNodes?.() ?? null;
  const nodes = await nodesOf(context);
  return (nodes.length === 0 ? [onlyNode(context)] : nodes).map((node) => ({
    id: node.name,
    name: node.name,
    state: stateOf(node),
    agents: node.isAlive ? node.agents : 0,
    url: node.url,
    version: node.version,
    started_at: node.startedAt,
    reported_at: node.reportedAt,
    /** Whether the coordinator that was asked is linked to it; null if it is the same, or none. */
    linked: linked === null ? null : (linked.get(node.name) ?? null),
  }));
});

/** Its agents move to others, and it serves no new ones, until `resume`. */
export const drainNode = adminChange(oneNode, async (context, { node: name }) => {
  const nodes = await nodesOf(context);
  requireNode(nodes, name);
  const others = nodes.filter((one) => one.name !== name && one.isAlive && !one.draining);
  if (others.length === 0) {
    const message = `no other coordinator could take over what '${name}' serves: start one first.`;
    throw new CommandError(EXIT.conflict, message);
  }
  await context.store.setNodeDraining(name, true);
  return { name };
});

export const resumeNode = adminChange(oneNode, async (context, { node: name }) => {
  requireNode(await nodesOf(context), name);
  await context.store.setNodeDraining(name, false);
  return { name };
});

/** Forgets one that does not run any more. */
export const removeNode = adminChange(oneNode, async (context, { node: name }) => {
  requireNode(await nodesOf(context), name);
  if ((await context.store.removeNode(name, context.now())) === 'alive') {
    throw new CommandError(EXIT.conflict, `the coordinator '${name}' runs: stop it first.`);
  }
  return { name };
});

export const rotateNodeKey = adminChange(z.strictObject({}), async ({ store, now }) => {
  await store.rotateNodeKey(randomBytes(KEY_BYTES), now());
  return {};
});

/** Those that have ever reported: the one on SQLite does not. */
async function nodesOf({ store, now }: AdminContext): Promise<readonly NodeRow[]> {
  return (await store.listNodes(now())).filter(({ reportedAt }) => reportedAt !== null);
}

/** Of a database on SQLite, which it does not tell that it runs. */
function onlyNode({ server, system, links, now }: AdminContext): NodeRow {
  const agents = links?.providers().filter(({ link }) => link !== null).length ?? 0;
  const [name, isAlive] = ['local', server !== null];
  const reportedAt = isAlive ? now() : null;
  const version = system?.version ?? null;
  return {
    name,
    url: null,
    version,
    startedAt: null,
    reportedAt,
    isAlive,
    draining: false,
    agents,
  };
}

function requireNode(nodes: readonly NodeRow[], name: string): void {
  if (nodes.some((one) => one.name === name)) return;
  const known = nodes.map((one) => one.name).join(', ');
  const message =
    nodes.length === 0
      ? 'the database is SQLite, which has one coordinator.'
      : `there is no coordinator '${name}': there are ${known}.`;
  throw new CommandError(EXIT.notFound, message);
}

function stateOf({ isAlive, draining }: NodeRow): 'up' | 'draining' | 'down' {
  if (!isAlive) return 'down';
  return draining ? 'draining' : 'up';
}
