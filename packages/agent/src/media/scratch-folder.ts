/**
 * A folder that only this user can enter, for programs that need a seekable file. Folders of killed
 * processes are removed by a later one.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'gateway-agent-media-';
/** Far longer than the conversion, reading and sending of a sound. */
const ABANDONED_AFTER_MS = 60 * 60 * 1_000;
/** The open folders of this process, by path. */
const open = new Set<string>();

export interface ScratchFolder {
  readonly path: string;
  /** Does not throw: a file that cannot be removed now is left for the next sweep. */
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
 * Removes folders that were not changed for a long time. The process id in a name is no evidence:
 * agents in several containers can share one folder for temporary files, and each counts its
 * processes from one. Folders of other users cannot be removed, and stay.
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
  return found !== null && SYSTEM_CLOCK.now() - found.mtimeMs > ABANDONED_AFTER_MS;
}

const TRIES = 3;

async function removeFolder(path: string): Promise<void> {
  const wanted = { recursive: true, force: true, maxRetries: TRIES } as const;
  await rm(path, wanted).catch(() => undefined);
}
