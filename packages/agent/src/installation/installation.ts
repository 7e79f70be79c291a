/**
 * How this program was installed, and the folder of an installation by `install.sh`:
 *
 *     versions/0.2.0/    the unpacked package, or the executable
 *     current            a link to the version that is started
 *     previous           a link to the version before it, which `upgrade --rollback` starts
 *     bin/gateway-agent  starts `current`; stays the same from one version to the next
 *     install.json       which kind of file is installed
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import {
  link,
  readFile,
  readlink,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { OWN_COMMAND } from '../own-files.js';

const facts = z.object({ kind: z.enum(['package', 'executable']) });

export interface Installation {
  readonly root: string;
  readonly kind: 'package' | 'executable';
  /** The version that runs now: a folder below `versions`. */
  readonly version: string;
}

const PROGRAM = /^(.+)[\\/]versions[\\/]([^\\/]+)[\\/](?:bin[\\/])?gateway-agent(?:\.js|\.exe)?$/;

/** Null if this program was installed in another way. */
export function findInstallation(program: string = ownProgram()): Installation | null {
  const match = PROGRAM.exec(program);
  const [, root, version] = match ?? [];
  if (root === undefined || version === undefined) return null;
  try {
    return { root, version, ...facts.parse(JSON.parse(readFileSync(installFile(root), 'utf8'))) };
  } catch {
    return null;
  }
}

/**
 * Starts this program again, also after an upgrade: for services of the operating system. Arguments
 * follow.
 */
export function stableCommand(): readonly [string, ...string[]] {
  const installation = findInstallation();
  if (installation === null) return [process.execPath, ...OWN_COMMAND.slice(1).map(resolved)];
  const { root, kind } = installation;
  // A service of Windows starts programs, and no scripts of the shell.
  if (process.platform !== 'win32') return [launcherOf(root)];
  if (kind === 'executable') return [join(root, 'current', 'gateway-agent.exe')];
  return [process.execPath, join(root, 'current', 'bin', 'gateway-agent.js')];
}

export function launcherOf(root: string): string {
  return join(root, 'bin', process.platform === 'win32' ? 'gateway-agent.cmd' : 'gateway-agent');
}

/** How somebody who did not use `install.sh` gets the next version. */
export function otherWayToUpgrade(url: string, file: string): string {
  const program = ownProgram();
  const by = markerBeside(program);
  if (by === 'deb') {
    return 'it belongs to a Debian package: install the next one with "apt install ./FILE.deb".';
  }
  if (by === 'container') return 'it is part of a container image: pull or build the next one.';
  if (/[\\/]node_modules[\\/]/.test(program)) {
    return `it was installed by npm: run "npm install --global ${url}/download/${file}".`;
  }
  const commands = '"git pull && npm ci && npm run build"';
  return `it runs from a checkout: run ${commands} there, and restart it.`;
}

/** `deb` or `container`, which their packages write beside this program's package.json. */
function markerBeside(program: string): string | null {
  try {
    return readFileSync(join(dirname(program), '..', 'installed-by'), 'utf8').trim();
  } catch {
    return null;
  }
}

function ownProgram(): string {
  return resolved(OWN_COMMAND[OWN_COMMAND.length - 1] ?? '');
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function installFile(root: string): string {
  return join(root, 'install.json');
}

// Changing what is current.

type VersionLink = 'current' | 'previous';

/** The version that a link names; null if there is no such link. */
export async function linkedVersion(root: string, link: VersionLink): Promise<string | null> {
  const target = await readlink(join(root, link)).catch(() => null);
  return target === null ? null : basename(target);
}

/** Makes this version the one that is started. Atomic, but on Windows. */
export function switchTo(root: string, version: string): Promise<void> {
  return pointAt(root, 'current', version);
}

interface KeptVersions {
  /** What `--rollback` starts; null: there is none. */
  readonly previous: string | null;
  /** What an agent still runs that was not restarted: it loads more of its files; null: none. */
  readonly running: string | null;
}

/**
 * After a change of versions: all but these and the current one are removed, with what an
 * interrupted installation has left.
 */
export async function settleOn(root: string, { previous, running }: KeptVersions): Promise<void> {
  if (previous !== null) await pointAt(root, 'previous', previous);
  const kept = [await linkedVersion(root, 'current'), previous, running];
  for (const name of await readdir(join(root, 'versions'))) {
    if (!kept.includes(name)) await rm(join(root, 'versions', name), { recursive: true });
  }
  for (const name of await readdir(root)) {
    if (name.startsWith('.new.')) await rm(join(root, name), { recursive: true });
  }
}

async function pointAt(root: string, link: VersionLink, version: string): Promise<void> {
  const path = join(root, link);
  if (process.platform === 'win32') {
    // A junction needs no privileges, and cannot be replaced by a rename.
    await rm(path, { force: true, recursive: true });
    return symlink(join(root, 'versions', version), path, 'junction');
  }
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await symlink(join('versions', version), fresh);
  await rename(fresh, path);
}

/**
 * Keeps installations and upgrades of this folder apart, also those by `install.sh`. The lock of a
 * process that has ended does not count. Throws a `CommandError` if another holds it.
 *
 * The lock is a hard link to a file that holds this process's id already: nobody sees it empty.
 */
export async function lockInstallation(root: string): Promise<() => Promise<void>> {
  const lock = join(root, 'lock');
  const claim = `${lock}.${randomUUID()}`;
  try {
    await writeFile(claim, `${process.pid}\n`, { flag: 'wx' });
    if ((await linked(claim, lock)) || (await takenOver(claim, lock))) {
      return () => rm(lock, { force: true });
    }
  } finally {
    await rm(claim, { force: true });
  }
  const message =
    'another installation or upgrade is under way: wait for it. ' +
    `If there is none, remove ${lock}.`;
  throw new CommandError(EXIT.conflict, message);
}

/** False if there is a file of this name. */
async function linked(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Replaces the lock of a process that has ended; false if it is not one. One process at a time does
 * that, and looks again: the lock that it read may be another's by now.
 */
async function takenOver(claim: string, lock: string): Promise<boolean> {
  const turn = `${lock}.takeover`;
  if (!(await isStale(lock)) || !(await linked(claim, turn))) return false;
  try {
    if (!(await isStale(lock))) return false;
    await rename(claim, lock);
    return true;
  } finally {
    await rm(turn, { force: true });
  }
}

/** A lock that is empty or cannot be read counts as held. */
async function isStale(lock: string): Promise<boolean> {
  const holder = (await readFile(lock, 'utf8').catch(() => '')).trim();
  return holder !== '' && !isAlive(Number(holder));
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
