// When files were last changed, to build again what is older.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files that the build of the dashboard writes. */
const GENERATED = 'generated';

/**
 * When the file, or anything in the folder, was last changed, in ms; folders count, whose files may
 * have gone.
 * @param {string} path
 * @returns {number}
 */
export function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const names = readdirSync(path).filter((name) => name !== GENERATED);
  return Math.max(stats.mtimeMs, ...names.map((name) => newest(join(path, name))));
}
