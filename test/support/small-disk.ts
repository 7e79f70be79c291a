/** A separate file system that can be filled to the last byte, if the tests may mount one. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './temporary-folder.js';

const PIECE = Buffer.alloc(4_096, 1);

export interface SmallDisk {
  readonly folder: string;
  /** Leaves no room for another byte. */
  fill(): Promise<void>;
  /** Gives back what `fill` took. */
  empty(): Promise<void>;
}

/** Null if it cannot be mounted: that takes Linux and its superuser. */
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
      // It ends with ENOSPC.
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
