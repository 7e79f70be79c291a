/**
 * A folder that only this user can enter, for files that a program must be able to go back in. What
 * a process that was killed left behind is removed by a later one.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'gateway-agent-media-';
/** Far longer than a sound is converted, read and sent on. */
const ABANDONED_AFTER_MS = 60 * 60 * 1_000;
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

/**
 * Removes the folders that nobody has touched for long. The number of the process in a name tells
 * nothing: agents in several containers can share one folder for temporary files, and each counts
 * its processes from one. The folders of other users resist, and stay.
 */
export async function sweepScratchFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    if (!open.has(path) && (await isAbandoned(path))) await removeFolder(path);
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
}

const TRIES = 3;

async function removeFolder(path: string): Promise<void> {
  const wanted = { recursive: true, force: true, maxRetries: TRIES } as const;
  await rm(path, wanted).catch(() => undefined);
}
