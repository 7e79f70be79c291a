/** Two coordinators of one database in this process: callers at the one, agents at the other. */
import { Agent } from '@inference-gateway/agent/agent';
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { ModelSettings } from '@inference-gateway/agent/config/model-settings';
import { callRunning } from '@inference-gateway/coordinator/cli/client';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import type { Config } from '@inference-gateway/coordinator/config/config';
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import type {
  AdminArgs,
  AdminName,
  AdminResult,
} from '@inference-gateway/coordinator/operations/operations';
import { createLogger } from '@inference-gateway/shared/program/logger';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { toService } from './gateway.js';
import { freePort } from './process-gateway.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';

const silent = createLogger('silent');

export interface PairedNode {
  readonly name: string;
  readonly address: string;
  /** Null if there is a member. */
  readonly setupLink: string | null;
  admin<Name extends AdminName>(command: Name, args: AdminArgs<Name>): Promise<AdminResult<Name>>;
  /** With the key of the pair's member. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

export interface Pair {
  /** Callers use it. */
  readonly near: PairedNode;
  /** Agents are linked to it. */
  readonly far: PairedNode;
  /** A stock client of the near one, which does not retry. */
  readonly client: OpenAI;
  /** Links an agent of the member's to the far one; resolves when the near one knows it. */
  startAgent(
    services: readonly Partial<ServiceConfig>[],
    name?: string,
    models?: ModelSettings,
  ): Promise<Agent>;
}

/** Starts one coordinator of the database; by default others reach it at a port of its own. */
export async function startNode(
  name: string,
  databaseUrl: string,
  settings: Partial<Config> = {},
): Promise<PairedNode> {
  const dataDir = await temporaryFolder();
  const nodeListen = `127.0.0.1:${await freePort()}`;
  const config: Config = {
    ...loadConfig({}, {}),
    rateLimitRequests: 1_000_000,
    drainMs: 200,
    logLevel: 'silent',
    port: 0,
    dataDir,
    databaseUrl,
    nodeName: name,
    nodeUrl: `wss://${nodeListen}`,
    nodeListen,
    ...settings,
  };
  const coordinator = await startCoordinator(config);
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await coordinator.drain();
    isStopped = true;
  };
  onTestFinished(stop);
  return {
    name,
    address: coordinator.address,
    setupLink: coordinator.setupLink,
    async admin<Name extends AdminName>(
      command: Name,
      args: AdminArgs<Name>,
    ): Promise<AdminResult<Name>> {
      const reply = await callRunning(dataDir, command, args);
      if (reply === null) throw new Error(`${name} does not run`);
      return reply.result;
    },
    fetch: (path, init) => fetch(`${coordinator.address}${path}`, init),
    stop,
  };
}

interface PairOptions extends Partial<Config> {
  /** Agents dial it instead of the far one. */
  readonly agentsUrl?: (near: PairedNode, far: PairedNode) => Promise<string>;
  /** Where each is dialed by the other one, if that is not the port itself. */
  readonly urlOf?: (nodePort: number) => Promise<string>;
}

/** Both run, and are linked to each other. */
export async function startPair(databaseUrl: string, options: PairOptions = {}): Promise<Pair> {
  const { agentsUrl, urlOf, ...settings } = options;
  const start = async (name: string): Promise<PairedNode> => {
    if (urlOf === undefined) return startNode(name, databaseUrl, settings);
    const nodePort = await freePort();
    const place = { nodeUrl: await urlOf(nodePort), nodeListen: `127.0.0.1:${nodePort}` };
    return startNode(name, databaseUrl, { ...settings, ...place });
  };
  const near = await start('near');
  const far = await start('far');
  for (const node of [near, far]) await untilLinked(node, true);
  const agentsOrigin = (await agentsUrl?.(near, far)) ?? far.address;
  const email = 'anna@example.org';
  await near.admin('user.create', { email, name: 'Anna', admin: false, password: null });
  const key = await near.admin('key.create', {
    user: email,
    name: 'test',
    scope: 'any',
    expires_in_s: null,
  });
  const authorization = `Bearer ${key.key}`;
  const withKey = (node: PairedNode): PairedNode => ({
    ...node,
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', authorization);
      return node.fetch(path, { ...init, headers });
    },
  });
  const client = new OpenAI({ baseURL: `${near.address}/v1`, apiKey: key.key, maxRetries: 0 });
  return {
    near: withKey(near),
    far: withKey(far),
    client,
    async startAgent(services, name = 'den-pc', models) {
      const owner = { owner: email, name, expires_in_s: 600, replace: null };
      const { token: joinToken } = await near.admin('token.create', owner);
      const response = await far.fetch('/agent/v1/enroll', {
        method: 'POST',
        headers: { authorization: `Bearer ${joinToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      const { token } = (await response.json()) as { token: string };
      const agent = new Agent({
        url: agentsOrigin,
        token,
        name,
        services: services.map((service, index) => toService(service, index)),
        host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
        logger: silent,
        once: false,
        ffmpeg: null,
        ...(models !== undefined && { models }),
      });
      onTestFinished(() => agent.drain());
      await agent.start();
      await until(async () => (await onlineAt(near)).includes(name), { what: `${name} is known` });
      return agent;
    },
  };
}

/** Names of the providers with a link, wherever that is. */
export async function onlineAt(node: PairedNode): Promise<readonly string[]> {
  const providers = await node.admin('provider.list', {});
  return providers.filter(({ online }) => online).map(({ name }) => name);
}

export async function untilLinked(node: PairedNode, isLinked: boolean): Promise<void> {
  const what = `${node.name} is ${isLinked ? '' : 'not '}linked to the other`;
  const links = async () => (await node.admin('node.list', {})).map(({ linked }) => linked);
  await until(async () => (await links()).includes(isLinked), { what });
}
