/** `gateway-agent doctor` in its own home, and coordinators with one fault each. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Check } from '@inference-gateway/shared/program/check';
import { onTestFinished } from 'vitest';
import { chmod, writeFile } from 'node:fs/promises';
import { fakeTools } from '../../support/fake-tools.js';
import { certificatePair } from '../../support/tls-front.js';
import type { CertificateName } from '../../support/tls-front.js';
import { agentHome } from '../cli/agent-program.js';

export interface Examined {
  readonly code: number | null;
  readonly checks: readonly Check[];
  readonly stderr: string;
  readonly status: (id: string) => string | undefined;
  readonly found: (id: string) => string;
  readonly advice: (id: string) => string;
  /** The ids of what failed. */
  readonly failed: readonly string[];
}

export interface Patient {
  readonly folder: string;
  readonly configFile: string;
  readonly examine: (environment?: Record<string, string>) => Promise<Examined>;
}

/**
 * Without looking at the card: that takes a while on a machine that has none.
 */
export async function patient(url: string, config: object = {}): Promise<Patient> {
  const home = await agentHome();
  const { path: PATH } = await fakeTools(MACHINE);
  const { folder, configFile } = home;
  await home.writeConfig({ url, game_mode: { enabled: false }, ...config });
  await writeFile(`${configFile}.token`, `gwa_${'a'.repeat(43)}`);
  await chmod(`${configFile}.token`, 0o600);
  const examine: Patient['examine'] = async (environment) => {
    const args = ['doctor', '--json', '--config', configFile];
    const { code, stdout, stderr } = await home.run(args, { PATH, ...environment });
    return examined({ code, stderr, checks: JSON.parse(stdout) as Check[] });
  };
  return { folder, configFile, examine };
}

/** A card and a converter that answer immediately: probing the real machine takes a second. */
const MACHINE = {
  'nvidia-smi': "echo '0, GPU-1, Fake RTX, 24564, 300, 0, 550.54.14, 8.9'",
  ffmpeg: 'echo ffmpeg version 9.9-test with libopus',
};

export function examined(run: Pick<Examined, 'code' | 'checks' | 'stderr'>): Examined {
  const find = (id: string): Check | undefined => run.checks.find((check) => check.id === id);
  return {
    ...run,
    status: (id) => find(id)?.status,
    found: (id) => find(id)?.found ?? '',
    advice: (id) => find(id)?.advice ?? '',
    failed: run.checks.filter(({ status }) => status === 'FAIL').map(({ id }) => id),
  };
}

interface FaultyCoordinator {
  readonly tls?: CertificateName;
  /** What an upgrade is answered with. */
  readonly upgrade?: number;
  /** By how much its clock is ahead. */
  readonly leadMs?: number;
  /** What `/healthz` is answered with. */
  readonly health?: number;
}

/** Returns its address. */
export async function faultyCoordinator(faults: FaultyCoordinator = {}): Promise<string> {
  const { tls, upgrade = 401, leadMs = 0, health = 200 } = faults;
  const answer = (_request: IncomingMessage, response: ServerResponse): void => {
    const date = new Date(Date.now() + leadMs).toUTCString();
    response.writeHead(health, { date, location: '/elsewhere' }).end('{"status":"ok"}');
  };
  const server: Server =
    tls === undefined ? createServer(answer) : createTlsServer(certificatePair(tls), answer);
  server.on('upgrade', (_request, socket) => socket.end(`HTTP/1.1 ${upgrade} No\r\n\r\n`));
  server.on('tlsClientError', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
}
