import { open } from 'node:fs/promises';

/** Puts the names in a folder on the disk. Windows does it by itself and opens no folders. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
