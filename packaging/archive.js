// Archives whose bytes depend only on their content.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { create } from 'tar';
import { ROOT } from './bundle.js';

/** Seconds since 1970: when the commit was made, or what the environment says instead. */
export function sourceDate() {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined) return Number(given);
  const git = ['log', '-1', '--format=%ct'];
  return Number(execFileSync('git', git, { cwd: ROOT, encoding: 'utf8' }).trim());
}

/**
 * Writes an npm package of this folder.
 * @param {string} folder
 * @param {string} file
 */
export async function archive(folder, file) {
  const paths = listed(folder);
  const mtime = new Date(sourceDate() * 1000);
  const gzip = { level: 9 };
  await create({ file, cwd: folder, prefix: 'package', portable: true, mtime, gzip }, paths);
}

/**
 * All files in a fixed order. Their modes no longer depend on who checked them out.
 * @param {string} folder
 * @returns {string[]}
 */
function listed(folder) {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return entries.filter((path) => {
    const full = join(folder, path);
    if (statSync(full).isDirectory()) return false;
    chmodSync(full, /^bin[\\/]/.test(path) ? 0o755 : 0o644);
    return true;
  });
}
