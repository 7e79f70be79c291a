/** The file system where a local server keeps its models, as far as the agent can know it. */
import { stat, statfs } from 'node:fs/promises';
import { isLoopback } from '@inference-gateway/shared/loopback';
import type { CatalogEntry } from '../backends/catalog/catalog.js';

/**
 * Free bytes for a program without privileges; null if the server runs on another machine, or in
 * none of the folders that the agent may look at.
 */
export async function freeBytesOf({ config, backend }: CatalogEntry): Promise<number | null> {
  const named = config.modelsFolder ?? null;
  if (named === null && !isLoopback(new URL(config.baseUrl).hostname)) return null;
  const folders = named === null ? (backend.library?.folders ?? []) : [named];
  for (const folder of folders) {
    const free = await freeBytesAt(folder);
    if (free !== null) return free;
  }
  return null;
}

async function freeBytesAt(folder: string): Promise<number | null> {
  try {
    if (!(await stat(folder)).isDirectory()) return null;
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}
