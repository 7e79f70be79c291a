/**
 * A folder that only this user can enter, for files that a program must be able to go back in. What
 * a process that was killed left behind is removed by the next one.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'gateway-agent-media-';
const NAME = /^gateway-agent-media-(\d+)-/;
/** The folders that this process has open, by path. */
const open = new Set<string>();

export interface ScratchFolder {
  readonly path: string;
  /** Does not throw: a file that cannot be removed now is left to the next sweep. */
  readonly remove: () => Promise<void>;
}

/** With mode 0700, which `mkdtemp` gives it. */
export async function openScratchFolder(): Promise<ScratchFolder> {
  const path = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  open.add(path);
  return {
    path,
    remove: async () => {
      open.delete(path);
      await removeFolder(path);
    },
  };
}

/** Removes the folders of processes that are gone. Those of other users resist, and stay. */
export async function sweepScratchFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1] ?? 0);
    const path = join(tmpdir(), name);
    if (pid > 0 && !open.has(path) && !isOther(pid)) await removeFolder(path);
  }
}

const TRIES = 3;

async function removeFolder(path: string): Promise<void> {
  const wanted = { recursive: true, force: true, maxRetries: TRIES } as const;
  await rm(path, wanted).catch(() => undefined);
}

/** A container's process often has the number that its predecessor had. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
