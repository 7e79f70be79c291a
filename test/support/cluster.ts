/** Several coordinators of one database as processes, behind a front that takes turns. */
import { createServer, connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ProcessGateway, freePort } from './process-gateway.js';
import type { RunningProgram, Script } from './program.js';
import { temporaryFolder } from './temporary-folder.js';

interface ClusterNode {
  readonly name: string;
  readonly gateway: ProcessGateway;
  /** Null while it does not run. */
  program: RunningProgram | null;
}

export interface Cluster {
  readonly nodes: readonly [ClusterNode, ClusterNode, ClusterNode];
  /** The address of the front. */
  readonly url: string;
  /** By default this version of the program. */
  start(node: ClusterNode, script?: Script): Promise<void>;
  kill(node: ClusterNode): Promise<void>;
}

interface ClusterOptions {
  readonly databaseUrl: string;
  /** Of each coordinator. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Three coordinators that run, and are linked to each other. */
export async function startCluster({ databaseUrl, env = {} }: ClusterOptions): Promise<Cluster> {
  const folder = await temporaryFolder();
  const make = async (name: string): Promise<ClusterNode> => {
    const nodePort = await freePort();
    const gateway = new ProcessGateway(join(folder, name), await freePort(), {
      GATEWAY_DATABASE_URL: databaseUrl,
      GATEWAY_NODE_NAME: name,
      GATEWAY_NODE_URL: `wss://127.0.0.1:${nodePort}`,
      GATEWAY_NODE_LISTEN: `127.0.0.1:${nodePort}`,
      ...env,
    });
    return { name, gateway, program: null };
  };
  const nodes = [await make('north'), await make('south'), await make('west')] as const;
  const front = await startFront(nodes.map(({ gateway }) => gateway.port));
  onTestFinished(() => front.close());
  await Promise.all(nodes.map((node) => start(node)));
  return {
    nodes,
    url: front.url,
    start,
    async kill(node) {
      node.program?.child.kill('SIGKILL');
      await node.program?.finished;
      node.program = null;
    },
  };
}

async function start(node: ClusterNode, script?: Script): Promise<void> {
  node.program = await node.gateway.startCoordinator(script);
}

/**
 * A front that connects each caller to the next port that answers, and leaves out coordinators that
 * do not say at `/readyz` that they are ready.
 */
export async function startFront(
  ports: readonly number[],
): Promise<{ url: string; close(): void }> {
  let turn = 0;
  const sockets = new Set<Socket>();
  const unready = new Set<number>();
  const looking = setInterval(() => {
    for (const port of ports) void look(port);
  }, LOOK_MS);
  const looksAt = new Set<number>();
  const look = async (port: number): Promise<void> => {
    if (looksAt.has(port)) return;
    looksAt.add(port);
    const signal = AbortSignal.timeout(LONGEST_LOOK_MS);
    const url = `http://127.0.0.1:${port}/readyz`;
    const response = await fetch(url, { signal }).catch(() => null);
    looksAt.delete(port);
    if (response?.ok === true) unready.delete(port);
    else unready.add(port);
  };
  const forward = (caller: Socket, tries: number): void => {
    const ready = ports.filter((port) => !unready.has(port));
    const some = ready.length > 0 ? ready : ports;
    const port = some[turn++ % some.length] ?? 0;
    const server = connect(port, '127.0.0.1');
    let isOpen = false;
    server.once('connect', () => {
      isOpen = true;
      sockets.add(server);
      caller.pipe(server).pipe(caller);
    });
    server.once('error', () => {
      if (!isOpen && tries > 1) forward(caller, tries - 1);
      else caller.destroy();
    });
    server.once('close', () => {
      sockets.delete(server);
      if (isOpen) caller.destroy();
    });
    caller.once('close', () => server.destroy());
  };
  const server = createServer((caller) => {
    sockets.add(caller);
    caller.on('error', () => caller.destroy()).once('close', () => sockets.delete(caller));
    forward(caller, ports.length);
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    clearInterval(looking);
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

function listen(server: Server): Promise<void> {
  return new Promise((done) => server.listen(0, '127.0.0.1', done));
}

const LOOK_MS = 200;
const LONGEST_LOOK_MS = 5_000;
