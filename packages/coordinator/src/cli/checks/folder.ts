/** The data folder: whose it is, who can look into it, and whether the disk has room. */
import { statSync, statfsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { checking } from './check.js';
import type { Check } from './check.js';

const GIB = 1024 ** 3;
/** A write-ahead log alone can take 64 MiB. */
const SCARCE_BYTES = 0.25 * GIB;
const LOW_BYTES = 2 * GIB;

export function checkFolder(dataDir: string): Check {
  const { ok, failed } = checking('data folder');
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined) {
    return failed(`${dataDir} does not exist`, 'Name it with --data, or make it with "start".');
  }
  if (!stats.isDirectory()) return failed(`${dataDir} is a file`, 'Name a folder with --data.');
  const fault = process.platform === 'win32' ? null : ownershipFault(stats, dataDir);
  return fault === null ? ok(dataDir) : failed(`${dataDir} ${fault.found}`, fault.advice);
}

function ownershipFault(
  { uid, mode }: Stats,
  dataDir: string,
): { readonly found: string; readonly advice: string } | null {
  const user = process.getuid?.();
  if (user !== undefined && uid !== user) {
    return { found: `belongs to user ${uid}`, advice: `Run this as that user, not as ${user}.` };
  }
  if ((mode & 0o077) === 0) return null;
  const octal = (mode & 0o777).toString(8);
  return { found: `is open to other users (mode ${octal})`, advice: `chmod 700 ${dataDir}` };
}

export function checkFreeSpace(dataDir: string): Check {
  const { ok, warning, failed } = checking('free space');
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB`;
  if (free < SCARCE_BYTES) return failed(found, 'Free space now: writes are about to fail.');
  if (free < LOW_BYTES) return warning(found, 'Free space, or move the data folder.');
  return ok(found);
}
