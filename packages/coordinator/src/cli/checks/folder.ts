/** The data folder: whose it is, who can look into it, and whether the disk has room. */
import { statSync, statfsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';

const GIB = 1024 ** 3;
/** A write-ahead log alone can take 64 MiB. */
const SCARCE_BYTES = 0.25 * GIB;
const LOW_BYTES = 2 * GIB;

export function checkFolder(dataDir: string): Check {
  const { pass, fail } = checking('data folder');
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined) {
    const command = `gateway-coordinator start --data ${dataDir}`;
    return fail(`${dataDir} does not exist`, `Name it with --data, or make it with: ${command}`);
  }
  if (!stats.isDirectory()) {
    return fail(
      `${dataDir} is a file`,
      'Name a folder: gateway-coordinator doctor --data <folder>',
    );
  }
  const fault = process.platform === 'win32' ? null : ownershipFault(stats, dataDir);
  return fault === null ? pass(dataDir) : fail(`${dataDir} ${fault.found}`, fault.advice);
}

function ownershipFault(
  { uid, mode }: Stats,
  dataDir: string,
): { readonly found: string; readonly advice: string } | null {
  const user = process.getuid?.();
  if (user !== undefined && uid !== user) {
    const command = `sudo -u '#${uid}' gateway-coordinator doctor --data ${dataDir}`;
    return { found: `belongs to user ${uid}`, advice: `Run this as that user: ${command}` };
  }
  if ((mode & 0o077) === 0) return null;
  const octal = (mode & 0o777).toString(8);
  return {
    found: `is open to other users (mode ${octal})`,
    advice: `Close it with: chmod 700 ${dataDir}`,
  };
}

export function checkFreeSpace(dataDir: string): Check {
  const { pass, warn, fail } = checking('free space');
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB`;
  const prune = `gateway-coordinator prune --dry-run --data ${dataDir}`;
  if (free < SCARCE_BYTES) {
    return fail(found, `Writes are about to fail. See what can go with: ${prune}`);
  }
  return free < LOW_BYTES ? warn(found, `Free space; see what can go with: ${prune}`) : pass(found);
}
