/**
 * The owner of a program's files. Everything in a folder belongs to the folder's owner, who may be
 * a service user without a shell: root becomes that user first, because the service could not write
 * a file of root.
 */
import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { EXIT, CommandError } from './command-error.js';

/** For every file and folder of the programs: accessible only to their owner. */
export const PRIVATE_UMASK = 0o077;

const ROOT = 0;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * For the rest of the process: root becomes the owner of the path or, if it does not exist, of the
 * folder in which it will be created. Other users do not change, nor does root if it is the owner.
 */
export function becomeOwnerOf(path: string): void {
  const owner = ownerToBecome(path);
  if (owner === null) return;
  takeGroups(owner);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
}

/**
 * The same until the returned function is called, which restores root: for a command that also
 * needs root's permissions.
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

export function isRoot(): boolean {
  return process.getuid?.() === ROOT;
}

/**
 * The name of the owner of a file or folder, or the number if it has no name here; null if there is
 * nothing at the path.
 */
export function ownerName(path: string): string | null {
  const uid = statSync(path, { throwIfNoEntry: false })?.uid;
  if (uid === undefined) return null;
  if (uid === userInfo().uid) return userInfo().username;
  const [name = String(uid)] = rowsOf('/etc/passwd').find(([, , id]) => id === String(uid)) ?? [];
  return name;
}

/** Null if there is no other user to become. */
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

/** The owner's groups instead of root's: cards may be restricted to a group. */
function takeGroups(owner: Owner): void {
  try {
    process.setgroups?.([...groupsOf(owner)]);
  } catch (cause) {
    // Root in a container may lack the permission.
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

/** Empty if the file cannot be read: users may be kept elsewhere. */
function rowsOf(file: string): string[][] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.map((line) => line.split(':'));
  } catch {
    return [];
  }
}
