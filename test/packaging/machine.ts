/** A new user on a machine with a GPU: a HOME, Node and the tools of every system, no compiler. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { until } from '../support/until.js';
import { ROOT } from './release-stage.js';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Status {
  readonly agent_version: string;
  readonly connection: string;
  readonly pid: number;
  readonly accepts: string;
  readonly paused_until: number | null;
}

const TOOLS = ['sh', 'cat', 'cp', 'ln', 'mkdir', 'mv', 'rm', 'rmdir', 'dirname', 'basename', 'df']
  .concat([
    'awk',
    'sed',
    'grep',
    'cut',
    'head',
    'tail',
    'tar',
    'gzip',
    'chmod',
    'readlink',
    'uname',
  ])
  .concat(['curl', 'sha256sum', 'seq', 'sleep', 'setsid', 'env', 'id', 'touch', 'kill']);

export class Machine {
  readonly home: string;
  readonly #bin: string;
  readonly #url: () => string;

  constructor(folder: string, url: () => string) {
    this.home = join(folder, 'home');
    this.#bin = join(folder, 'bin');
    this.#url = url;
  }

  get root(): string {
    return join(this.home, '.local', 'share', 'gateway-agent');
  }

  /** `curl … | sh -s -- ARGUMENTS`, without a terminal. */
  install(...args: readonly string[]) {
    return this.shell(`curl -fsSL ${this.#url()}/install.sh | sh -s -- ${args.join(' ')}`);
  }

  /**
   * Resolves when it has ended; `said` is what it has printed until now. A signal reaches the
   * command itself if the line starts it with `exec`.
   */
  shell(line: string, env: Readonly<Record<string, string>> = {}) {
    const manager = join(dirname(this.home), 'manager');
    const own = { HOME: this.home, PATH: this.#bin, SERVICE_MANAGER: manager };
    const child = spawn('setsid', ['sh', '-c', line], {
      env: { ...own, ...env },
      cwd: this.home,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (text) => (output.stdout += text));
    child.stderr.on('data', (text) => (output.stderr += text));
    const ran = once(child, 'close').then(([code]): Ran => ({
      code: code as number | null,
      ...output,
    }));
    const said = (): string => output.stdout + output.stderr;
    return Object.assign(ran, { said, kill: (signal: NodeJS.Signals) => child.kill(signal) });
  }

  agent(...args: readonly string[]) {
    return this.shell(`exec .local/bin/gateway-agent ${args.join(' ')}`);
  }

  async status(): Promise<Status> {
    const { stdout } = await this.agent('status', '--json');
    return JSON.parse(stdout) as Status;
  }

  /** Replaces a tool of this machine by a script of the shell; null removes it. */
  async setTool(name: string, script: string | null): Promise<void> {
    const file = join(this.#bin, name);
    await rm(file, { force: true });
    if (script === null) return;
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }

  /** Ends a service that a failed test has left. */
  async stop(): Promise<void> {
    const file = join(dirname(this.home), 'manager', 'pid');
    const pid = Number(await readFile(file, 'utf8').catch(() => ''));
    // Not by its own tools, which a test may have broken.
    if (isAlive(pid)) process.kill(pid);
    await until(() => !isAlive(pid), { timeoutMs: 15_000 });
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** `folder` must not exist; `url` is the coordinator's. */
export async function newMachine(folder: string, url: () => string): Promise<Machine> {
  const bin = join(folder, 'bin');
  for (const one of [bin, join(folder, 'home'), join(folder, 'manager')]) {
    await mkdir(one, { recursive: true });
  }
  const machine = new Machine(folder, url);
  for (const tool of TOOLS) {
    const path = await pathOf(tool);
    if (path !== tool) await machine.setTool(tool, `exec ${path} "$@"`);
  }
  await machine.setTool('node', `exec ${process.execPath} "$@"`);
  const manager = join(bin, 'systemctl');
  await copyFile(SERVICE_MANAGER, manager);
  await chmod(manager, 0o755);
  return machine;
}

/** Stands for systemd. A tool that a test makes of it gets its arguments first. */
export const SERVICE_MANAGER = join(ROOT, 'test', 'packaging', 'service-manager.sh');

const paths = new Map<string, Promise<string>>();

/** A command of the shell itself is its own path. */
function pathOf(tool: string): Promise<string> {
  const path = paths.get(tool) ?? findPath(tool);
  paths.set(tool, path);
  return path;
}

function findPath(tool: string): Promise<string> {
  return new Promise((done, failed) => {
    execFile('sh', ['-c', `command -v ${tool}`], (error, stdout) => {
      if (error === null) done(stdout.trim());
      else failed(new Error(`${tool} is missing`));
    });
  });
}
