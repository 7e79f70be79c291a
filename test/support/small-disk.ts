/** A separate file system that a test can fill completely, if it may mount one. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './temporary-folder.js';

const PIECE = Buffer.alloc(4_096, 1);

export interface SmallDisk {
  readonly folder: string;
  /** Fills it to the last byte. */
  fill(): Promise<void>;
  /** Frees the space that `fill` used. */
  empty(): Promise<void>;
}

/** Null if it cannot be mounted: this needs Linux and root. */
export async function mountSmallDisk(sizeMiB: number): Promise<SmallDisk | null> {
  const folder = join(await temporaryFolder(), 'disk');
  await mkdir(folder);
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=700`, 'tmpfs', folder];
    execFileSync('/bin/mount', options, { stdio: 'ignore' });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('/bin/umount', ['--lazy', folder]));
  const ballast = join(folder, 'ballast');
  return {
    folder,
    async fill() {
      // Ends with ENOSPC.
      for (let full = false; !full;) {
        full = await writeFile(ballast, PIECE, { flag: 'a' }).then(
          () => false,
          () => true,
        );
      }
    },
    empty: () => rm(ballast),
  };
}
