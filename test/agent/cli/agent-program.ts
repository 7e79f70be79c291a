/** Runs the real `gateway-agent` with its own home, and small HTTP servers for it to call. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { runCommand } from '../../support/run-command.js';
import { startProgram } from '../../support/program.js';
import type { Finished, RunningProgram } from '../../support/program.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** A home folder without a configuration, and the program run in it. */
export interface Home {
  readonly folder: string;
  readonly configFile: string;
  writeConfig(config: unknown): Promise<void>;
  readConfig(): Promise<Record<string, unknown>>;
  /** Writes what `enroll` would have written. */
  enrolAt(url: string, services?: readonly unknown[]): Promise<void>;
  start(args: readonly string[], environment?: Record<string, string>): RunningProgram;
  /** Runs a command to its end, as `runCommand` does. */
  run(args: readonly string[], environment?: Record<string, string>): Promise<Finished>;
}

export async function agentHome(): Promise<Home> {
  const folder = await temporaryFolder();
  const configFile = join(folder, 'config.json');
  const writeConfig = (config: unknown) => writeFile(configFile, JSON.stringify(config));
  const ownEnvironment = { XDG_CONFIG_HOME: folder, HOME: folder };
  const start: Home['start'] = (args, environment = {}) => {
    const env = { ...ownEnvironment, ...environment };
    return startProgram('gateway-agent', args, { env, input: null });
  };
  return {
    folder,
    configFile,
    writeConfig,
    readConfig: async () =>
      JSON.parse(await readFile(configFile, 'utf8')) as Record<string, unknown>,
    async enrolAt(url, services = []) {
      await writeConfig({ url, name: 'den-pc', services });
      await writeFile(`${configFile}.token`, 'gwa_test');
    },
    start,
    run: (args, environment) =>
      runCommand('gateway-agent', args, { env: { ...ownEnvironment, ...environment } }),
  };
}

/** Serves on a free port of the loopback until the test ends. Returns its origin. */
export async function httpServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The address of a server that has just stopped: connections are refused there. */
export async function deadOrigin(): Promise<string> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}

export interface SeenEnrolment {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/**
 * Replaces a coordinator's enrolment endpoint: always gives this answer, and records the requests.
 */
export async function enrolmentServer(
  status: number,
  answer: unknown,
): Promise<{ readonly origin: string; readonly seen: SeenEnrolment[] }> {
  const seen: SeenEnrolment[] = [];
  async function enrol(request: IncomingMessage): Promise<void> {
    seen.push({ url: request.url, headers: request.headers, body: await json(request) });
  }
  const origin = await httpServer((request, response) => {
    void enrol(request).then(() => {
      response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
      return response.end(JSON.stringify(answer));
    });
  });
  return { origin, seen };
}
