/** Releases as `npm run package` makes them, and a coordinator of one that hands them out. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { create, extract } from 'tar';
import { until } from '../support/until.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = join(ROOT, 'packaging', 'package.js');

const run = promisify(execFile);

/** Builds a release; `key` is the file with the key that signs it, null for none. */
export async function release(
  out: string,
  { version, key, parts = 'agent' }: { version: string; key: string | null; parts?: string },
): Promise<void> {
  const signing = key === null ? [] : ['--key', key];
  const args = [SCRIPT, '--only', parts, '--version', version, '--out', out, ...signing];
  await run(process.execPath, args);
}

/** A release whose agent tells its version, but does not start. */
export function brokenRelease(out: string, version: string, key: string): Promise<void> {
  return changedRelease(out, { version, key }, async (dist) => {
    const main = join(dist, 'main.js');
    const text = await readFile(main, 'utf8');
    await writeFile(main, `if (process.argv[2] === 'start') process.exit(1);\n${text}`);
  });
}

/** A release of the agent after a change to the scripts of its package. */
export async function changedRelease(
  out: string,
  { version, key }: { version: string; key: string | null },
  change: (dist: string) => Promise<void>,
): Promise<void> {
  await release(out, { version, key });
  const file = `gateway-agent-${version}.tgz`;
  const work = join(out, 'work');
  await mkdir(work);
  await extract({ file: join(out, file), cwd: work });
  await change(join(work, 'package', 'dist'));
  await create({ file: join(out, file), cwd: work, gzip: true }, ['package']);
  await rm(work, { recursive: true });
  const bytes = await readFile(join(out, file));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const artifact = { file, kind: 'package', platform: null, bytes: bytes.length, sha256 };
  const list = JSON.stringify({ version, artifacts: [artifact] });
  await writeFile(join(out, 'release.json'), list);
  if (key === null) return;
  const signature = sign(null, Buffer.from(list), createPrivateKey(await readFile(key)));
  await writeFile(join(out, 'release.json.sig'), signature.toString('base64'));
}

/**
 * Unpacks the coordinator's package where npm would install it. Its native module is the one of
 * this checkout: compiling it takes a minute. `npm run test:packages` has npm install it.
 */
export async function installCoordinator(file: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await extract({ file, cwd: folder, strip: 1 });
  await mkdir(join(folder, 'node_modules'));
  const native = ['better-sqlite3', 'better-sqlite3-12', 'bindings', 'file-uri-to-path'];
  for (const name of native) {
    const from = join(ROOT, 'node_modules', name);
    await symlink(from, join(folder, 'node_modules', name)).catch(() => undefined);
  }
  return join(folder, 'bin', 'gateway-coordinator.js');
}

/** An installed coordinator that hands out what is in `offered`. */
export class HandingCoordinator {
  readonly #program: string;
  readonly #home: string;
  readonly port: number;
  #child: ChildProcess | null = null;

  constructor(program: string, { home, port }: { home: string; port: number }) {
    this.#program = program;
    this.#home = home;
    this.port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get #offered(): string {
    return join(this.#home, 'offered');
  }

  async offer(folder: string): Promise<void> {
    await this.stop();
    await rm(this.#offered, { recursive: true, force: true });
    await cp(folder, this.#offered, { recursive: true });
    await this.start();
  }

  async start(): Promise<void> {
    const args = [this.#program, 'start', '--port', String(this.port)];
    const child = spawn(process.execPath, args, {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    await until(() => said.includes('listening on') || child.exitCode !== null, {
      what: 'a start',
    });
    if (child.exitCode !== null) throw new Error(said);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    child.kill('SIGTERM');
    await until(() => child.exitCode !== null || child.signalCode !== null);
  }

  /** Runs a command of its command line; what it prints. */
  async admin(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [this.#program, ...args], { env: this.#env });
    return stdout.trim();
  }

  get #env() {
    return {
      PATH: process.env['PATH'],
      GATEWAY_DATA: join(this.#home, 'data'),
      GATEWAY_DOWNLOADS_DIR: this.#offered,
    };
  }
}
