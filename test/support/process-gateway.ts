/**
 * The gateway as users run it: coordinator and agent as processes, set up by their command lines.
 */
import { callRunning } from '@inference-gateway/coordinator/cli/client';
import type {
  AdminArgs,
  AdminName,
  AdminResult,
} from '@inference-gateway/coordinator/operations/operations';
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import OpenAI from 'openai';
import { startProgram } from './program.js';
import type { Finished, RunningProgram, Script } from './program.js';
import { runCommand } from './run-command.js';
import { temporaryFolder } from './temporary-folder.js';

const OWNER = 'anna@example.org';

export class ProcessGateway {
  readonly folder: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  key = '';

  constructor(folder: string, port: number, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.port = port;
    this.env = { GATEWAY_RATE_LIMIT_REQUESTS: '100000', ...env };
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get client(): OpenAI {
    return new OpenAI({ baseURL: `${this.url}/v1`, apiKey: this.key, maxRetries: 0 });
  }

  /** Starts the coordinator, on the same port every time, and waits until it listens. */
  async startCoordinator(script?: Script): Promise<RunningProgram> {
    const { env, port } = this;
    const args = ['start', '--data', this.dataDir, '--port', String(port)];
    const program = startProgram('gateway-coordinator', args, { env, script });
    await program.printed(/listening on (\S+)/);
    return program;
  }

  admin(...args: string[]): Promise<Finished> {
    const { env } = this;
    return runCommand('gateway-coordinator', [...args, '--data', this.dataDir], { env });
  }

  /** An operation of the running coordinator, without a process; null if none runs. */
  async ask<Name extends AdminName>(
    command: Name,
    args: AdminArgs<Name>,
  ): Promise<AdminResult<Name> | null> {
    return (await callRunning(this.dataDir, command, args))?.result ?? null;
  }

  /** Sends a raw request with the member's key. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${this.key}`);
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  /** Creates a member with a key, and enrolls an agent that serves these services. */
  async setUp(services: readonly object[], url = this.url): Promise<void> {
    expectOk(await this.admin('user', 'create', '--email', OWNER, '--name', 'Anna'));
    const key = await this.admin('key', 'create', '--user', OWNER, '--name', 'test');
    this.key = expectOk(key).stdout.trim();
    await this.enroll('den-pc', services, url);
  }

  /** Enrolls another agent of the member's. */
  async enroll(name: string, services: readonly object[], url = this.url): Promise<void> {
    const token = expectOk(await this.admin('token', 'create', '--owner', OWNER)).stdout;
    const config = this.configOf(name);
    const tokenFile = `${config}.join-token`;
    await writeFile(tokenFile, token);
    const args = ['enroll', '--url', this.url, '--token-file', tokenFile, '--name', name];
    expectOk(await this.agentCommand(name, ...args));
    await writeFile(config, JSON.stringify({ url, name, services }));
  }

  /** Starts the agent; `online` resolves when the agent reports that it is online. */
  startAgent(
    name = 'den-pc',
    script?: Script,
    env: Readonly<Record<string, string>> = {},
  ): RunningProgram & { online: Promise<string> } {
    const args = ['start', '--config', this.configOf(name)];
    const program = startProgram('gateway-agent', args, { script, env });
    return { ...program, online: program.printed(/online as (\S+)/) };
  }

  agentCommand(name: string, ...args: string[]): Promise<Finished> {
    return runCommand('gateway-agent', [...args, '--config', this.configOf(name)]);
  }

  get dataDir(): string {
    return join(this.folder, 'data');
  }

  configOf(name: string): string {
    return join(this.folder, `${name}.json`);
  }
}

/** A gateway with a running coordinator and one enrolled agent that does not run yet. */
export async function startProcessGateway(
  services: readonly object[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ gateway: ProcessGateway; coordinator: RunningProgram }> {
  const gateway = new ProcessGateway(await temporaryFolder(), await freePort(), env);
  const coordinator = await gateway.startCoordinator();
  await gateway.setUp(services);
  return { gateway, coordinator };
}

export function expectOk(finished: Finished): Finished {
  if (finished.code !== 0) throw new Error(`exit ${finished.code}: ${finished.stderr}`);
  return finished;
}

/** Below the system's ephemeral ports, which another program could get between two starts. */
const PORTS = { from: 15_000, to: 32_000 };

/** A port that was free just now; a fixed one, because a restarted coordinator needs it again. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${PORTS.from} to ${PORTS.to} is free`);
}

const MAX_ATTEMPTS = 100;

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = new Promise<boolean>((done) => {
    server.once('error', () => done(false)).listen(port, '127.0.0.1', () => done(true));
  });
  if (!(await listening)) return false;
  await new Promise((done) => server.close(done));
  return true;
}
