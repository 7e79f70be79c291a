import { syncFolder } from '@inference-gateway/shared/program/disk';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Puts the names in a folder, and in all those in it, on the disk. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncTree(join(folder, entry.name));
  }
  await syncFolder(folder);
}
