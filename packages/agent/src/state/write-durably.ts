/** Replaces a file atomically: a reader finds the old text or the new one, even after a crash. */
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Resolves once the text would survive a power cut. The file's mode is 0600. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`;
  try {
    await writeSynced(temporary, text);
    await rename(temporary, file);
  } catch (error) {
    // On a full disk an incomplete file may remain.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(file));
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
