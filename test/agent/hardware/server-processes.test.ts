import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { chown } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ServerProcesses } from '@inference-gateway/agent/hardware/server-processes';
import { startStranger } from '../../support/strangers.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { writeFiles } from './fake-amd.js';

const gpuProcess = (pid: number, name: string | null = 'worker') => ({
  pid,
  name,
  usePercent: 50,
  memoryMib: 4_000,
});

/** A model server: it listens, and has a child that computes. Neither is a child of the other. */
const SERVER = `
  const child = require('node:child_process').spawn('sleep', ['600']);
  const server = require('node:http').createServer();
  server.listen(0, '127.0.0.1', () => console.log(server.address().port, child.pid));
  process.on('SIGTERM', () => { child.kill(); process.exit(); });
`;

async function startServer(): Promise<{ port: number; pid: number; worker: number }> {
  const child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await once(child, 'close');
  });
  for await (const [data] of on(child.stdout, 'data')) {
    const [port = 0, worker = 0] = String(data).trim().split(' ').map(Number);
    return { port, pid: child.pid ?? 0, worker };
  }
  throw new Error('it printed nothing');
}

/** As the agent of another process: else all children of the test were its own. */
const NOBODY = 2 ** 30;

test('the server that listens and all that it started are ours, as is the agent', async () => {
  const { port, pid, worker } = await startServer();
  const stranger = startStranger();
  const servers = new ServerProcesses({ baseUrls: [`http://localhost:${port}/v1`], pid: NOBODY });
  const seen = [pid, worker, stranger].map((one) => gpuProcess(one));
  expect(await servers.strangers(seen)).toEqual([gpuProcess(stranger)]);
  const others = new ServerProcesses({ baseUrls: [], pid: process.pid });
  const own = [gpuProcess(process.pid), gpuProcess(pid)];
  expect(await others.strangers([...own, gpuProcess(stranger)])).toEqual([gpuProcess(stranger)]);
});

test.each([hostname(), `${hostname()}.local`])('%s is this machine', async (host) => {
  const { port, pid } = await startServer();
  const servers = new ServerProcesses({ baseUrls: [`http://${host}:${port}`], pid: NOBODY });
  expect(await servers.strangers([gpuProcess(pid)])).toEqual([]);
});

test('without a server on its port, each process on the card is a stranger', async () => {
  const { pid } = await startServer();
  const servers = new ServerProcesses({ baseUrls: ['http://127.0.0.1:9'], pid: NOBODY });
  expect(await servers.strangers([gpuProcess(pid)])).toEqual([gpuProcess(pid)]);
});

test('a worker that is started later is known at once', async () => {
  const { port, pid } = await startServer();
  const servers = new ServerProcesses({ baseUrls: [`http://127.0.0.1:${port}`], pid: NOBODY });
  expect(await servers.strangers([gpuProcess(pid)])).toEqual([]);
  const late = await startServer();
  const both = [gpuProcess(pid), gpuProcess(late.pid)];
  expect(await servers.strangers(both)).toEqual([gpuProcess(late.pid)]);
});

test('a process that is gone, or not to be seen from here, is nobody’s', async () => {
  const servers = new ServerProcesses({ baseUrls: [], pid: NOBODY });
  expect(await servers.strangers([gpuProcess(2 ** 29)])).toEqual([]);
  expect(await servers.strangers([])).toEqual([]);
});

test('where the system tells no processes, or no trees of them, it is not known', async () => {
  const servers = new ServerProcesses({ baseUrls: [] });
  expect(await servers.strangers(null)).toBeNull();
  const other = new ServerProcesses({ baseUrls: [], platform: 'win32' });
  expect(await other.strangers([gpuProcess(1)])).toBeNull();
});

/** A line of /proc/net/tcp. */
function listening(port: number, uid: number, inode: number): string {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const queues = '00000000:00000000 00:00000000 00000000';
  return `0: ${address} 00000000:0000 0A ${queues} ${uid} 0 ${inode} 1\n`;
}

function processFiles(pid: number, name: string, parent = 1): Record<string, string> {
  return { [`proc/${pid}/stat`]: `${pid} (${name}) S ${parent} 1 1\n` };
}

async function machine(files: Readonly<Record<string, string>>): Promise<ServerProcesses> {
  return (await machineAt(files)).servers;
}

async function machineAt(files: Readonly<Record<string, string>>) {
  const root = await temporaryFolder();
  await writeFiles(root, files);
  const baseUrls = ['http://127.0.0.1:8080/v1'];
  const servers = new ServerProcesses({ baseUrls, root, platform: 'linux', pid: NOBODY });
  return { servers, root };
}

test('a server in a container is known by its container, and a game is not', async () => {
  const servers = await machine({
    'proc/net/tcp': listening(8080, 0, 555),
    ...processFiles(10, 'docker-proxy'),
    'proc/10/fd/4': '->socket:[555]',
    ...processFiles(20, 'python3'),
    'proc/20/cgroup': '0::/system.slice/docker-4f2a.scope\n',
    ...processFiles(30, 'game'),
    'proc/30/cgroup': '0::/user.slice/user-1000.slice/app-steam.scope\n',
    ...processFiles(40, 'ollama'),
  });
  const seen = [20, 30, 40].map((pid) => gpuProcess(pid, null));
  expect(await servers.strangers(seen)).toEqual([gpuProcess(30, null)]);
});

test('with the server in sight, a container is a stranger like others', async () => {
  const servers = await machine({
    'proc/net/tcp': listening(8080, 1000, 555),
    ...processFiles(10, 'llama-server'),
    'proc/10/fd/4': '->socket:[555]',
    ...processFiles(20, 'python3'),
    'proc/20/cgroup': '0::/system.slice/docker-4f2a.scope\n',
    ...processFiles(30, 'ollama'),
    ...processFiles(40, 'llama-server'),
  });
  const seen = [20, 30, 40].map((pid) => gpuProcess(pid, null));
  // Another llama-server may be a worker of the one that listens.
  expect(await servers.strangers(seen)).toEqual([gpuProcess(20, null), gpuProcess(30, null)]);
});

const OTHER_USER = 4_242;

test.runIf(process.getuid?.() === 0)('a server of another user is known by that user', async () => {
  const { servers, root } = await machineAt({
    'proc/net/tcp': listening(8080, OTHER_USER, 555),
    ...processFiles(20, 'python3'),
    ...processFiles(30, 'game'),
  });
  await chown(join(root, 'proc/20'), OTHER_USER, OTHER_USER);
  expect(await servers.strangers([20, 30].map((pid) => gpuProcess(pid)))).toEqual([gpuProcess(30)]);
});

test('one whose socket is root’s is not known by that', async () => {
  const servers = await machine({
    'proc/net/tcp': listening(8080, 0, 555),
    ...processFiles(20, 'python3'),
  });
  expect(await servers.strangers([gpuProcess(20)])).toEqual([gpuProcess(20)]);
});

test('a table of sockets that is torn is no table', async () => {
  const torn = { 'proc/net/tcp': 'sl local_address\n0: x y 0A\n\n' };
  const servers = await machine({ ...torn, ...processFiles(20, 'python3') });
  expect(await servers.strangers([gpuProcess(20)])).toEqual([gpuProcess(20)]);
});
