/**
 * Whose the files of a program are. Everything in a folder belongs to the folder's owner, who may
 * be a service's user without a shell: root, who administers it, becomes that user first. A file
 * that root leaves there would be one that the service cannot write.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { EXIT, CommandError } from './command-error.js';

/** Of every file and folder that the programs make: readable to their owner alone. */
export const PRIVATE_UMASK = 0o077;

const ROOT = 0;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * For the rest of the process: root becomes whoever owns the path or, where nothing lies at it yet,
 * the folder that it is to be made in. Everybody else stays who they are, as does root where that
 * is root's.
 */
export function becomeOwnerOf(path: string): void {
  const owner = ownerToBecome(path);
  if (owner === null) return;
  takeGroups(owner);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
}

/**
 * The same until the returned function is called, by which root is root again: for a command that
 * also writes or reads what only root may.
 */
export function actAsOwnerOf(path: string): () => void {
  const owner = ownerToBecome(path);
  if (owner === null) return () => {};
  const groups = process.getgroups?.() ?? [];
  takeGroups(owner);
  process.setegid?.(owner.gid);
  process.seteuid?.(owner.uid);
  return () => {
    process.seteuid?.(ROOT);
    process.setegid?.(ROOT);
    process.setgroups?.(groups);
  };
}

/** Whether this process is the owner of the path, or there is nothing at it. */
export function isOwnerOf(path: string): boolean {
  const uid = statSync(path, { throwIfNoEntry: false })?.uid;
  return uid === undefined || process.geteuid === undefined || uid === process.geteuid();
}

/** Null if there is nobody else to become. */
function ownerToBecome(path: string): Owner | null {
  if (process.geteuid?.() !== ROOT) return null;
  const { uid, gid } = nearest(resolve(path));
  return uid === ROOT ? null : { uid, gid };
}

function nearest(path: string): Owner {
  const parent = dirname(path);
  if (parent === path) return statSync(path);
  return statSync(path, { throwIfNoEntry: false }) ?? nearest(parent);
}

/** The owner's in place of root's: a machine's cards may be for one group alone. */
function takeGroups(owner: Owner): void {
  try {
    process.setgroups?.([...groupsOf(owner)]);
  } catch (cause) {
    // A container may hold a root who is not allowed to.
    const message = `this root may not act as another user: ${(cause as Error).message}.`;
    throw new CommandError(EXIT.notAuthorised, `${message} Run this as that user.`, { cause });
  }
}

function groupsOf({ uid, gid }: Owner): ReadonlySet<number> {
  const [name] = rowsOf('/etc/passwd').find(([, , id]) => id === String(uid)) ?? [];
  const named = rowsOf('/etc/group').filter(
    ([, , , members = '']) => name !== undefined && members.split(',').includes(name),
  );
  return new Set([gid, ...named.map(([, , id]) => Number(id))]);
}

/** None if the users of this machine are kept elsewhere. */
function rowsOf(file: string): string[][] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.map((line) => line.split(':'));
  } catch {
    return [];
  }
}
