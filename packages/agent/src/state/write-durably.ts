/** Replaces a file whole: whoever reads it finds the old text or the new, whatever happens. */
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Resolves once the text would survive a power cut. The file's mode is 0600. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(dirname(file));
}

/** Makes the names in a folder durable; Windows does it by itself and opens no folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
