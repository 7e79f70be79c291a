/** Checks the data folder: its owner, its permissions, and the free space of the disk. */
import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import {
  bytesBelow,
  freeBytesOf,
  inShell,
  worthFreeing,
} from '@inference-gateway/shared/program/disk';
import type { Freeable } from '@inference-gateway/shared/program/disk';
import type { AdminContext } from '../../operations/operation.js';
import { assetsFolder, openByteStore } from '../../assets/folder-store.js';
import { filesMarkOf } from '../../assets/open-files.js';
import { orphans } from '../../assets/sweep.js';
import { assetsAmong, DATABASE_FILE, spaceOf } from '../../store/open.js';

const GIB = 1024 ** 3;
/** The write-ahead log alone can take 64 MiB. */
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

export interface SpacePatient {
  readonly dataDir: string;
  /** Then its files in use must not be offered for removal. */
  readonly isRunning: boolean;
  /** Null if unknown. */
  readonly retention: AdminContext['retention'] | null;
}

/** `free`: bytes. */
export async function checkFreeSpace(
  patient: SpacePatient,
  free: number = freeBytesOf(patient.dataDir),
): Promise<Check> {
  const { pass, warn, fail } = checking('free space');
  const found = `${(free / GIB).toFixed(1)} GiB`;
  if (free >= LOW_BYTES) return pass(found);
  const dataDir = resolve(patient.dataDir);
  const freeable = [
    ...worthFreeing(await removable({ ...patient, dataDir })),
    ...worthFreeing(await prunable({ ...patient, dataDir })),
  ];
  const look = `du -xh ${inShell(dataDir)} | sort -h | tail`;
  if (free < SCARCE_BYTES) {
    return fail(found, `Writes are about to fail. What is large is told by: ${look}`, freeable);
  }
  return warn(found, `Free space; what is large is told by: ${look}`, freeable);
}

/** A backup or restore that has written nothing for this long has been stopped. */
const STOPPED_AFTER_MS = 60 * 60_000;

/** What can be removed without opening the database, also on a full disk. */
async function removable({ dataDir, isRunning }: SpacePatient): Promise<Freeable[]> {
  const found: Freeable[] = [];
  for (const [folder, prefix] of [
    [dataDir, ''],
    [dirname(dataDir), `${basename(dataDir)}.`],
  ] as const) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const kind = name.startsWith(prefix) ? leftoverOf(name.slice(prefix.length)) : null;
      if (kind === null || !(await canGo(path, dataDir, kind))) continue;
      const command = `${kind.verb} ${inShell(path)}${kind.verb === 'mv' ? ' <another disk>' : ''}`;
      found.push({ what: kind.what, bytes: await bytesBelow(path), command });
    }
  }
  if (filesMarkOf(dataDir) !== null) {
    const what = 'of files from before they were copied to the place that is used now';
    const folder = assetsFolder(dataDir);
    const bytes = (await bytesBelow(folder)) - (await bytesBelow(join(folder, 'drafts')));
    found.push({ what, bytes, command: `rm -r ${inShell(folder)}/??` });
  }
  if (isRunning) return found;
  for (const path of [join(dataDir, 'uploads'), join(assetsFolder(dataDir), 'drafts')]) {
    const what = 'of calls that ended with the coordinator';
    found.push({ what, bytes: await bytesBelow(path), command: `rm -r ${inShell(path)}` });
  }
  return found;
}

interface Leftover {
  readonly what: string;
  readonly verb: 'rm' | 'rm -r' | 'mv';
  /** It may belong to a backup or restore that still runs. */
  readonly isYoung?: boolean;
}

/** Null for files that belong there. */
function leftoverOf(name: string): Leftover | null {
  if (name.startsWith(`${DATABASE_FILE}.schema-`) && name.endsWith('.backup')) {
    return { what: 'of a copy of the database from before a migration', verb: 'rm' };
  }
  if (name.startsWith(`${DATABASE_FILE}.before-copy-`)) {
    return { what: 'of a database that a copy from PostgreSQL replaced', verb: 'rm' };
  }
  if (name.startsWith('before-restore-')) {
    return { what: 'of data that a restore moved aside', verb: 'rm -r' };
  }
  if (name.startsWith('restoring-') || name.endsWith('.unfinished')) {
    return { what: 'of a backup or restore that was stopped', verb: 'rm -r', isYoung: true };
  }
  return /\.(tar|tgz|tar\.gz)$/.test(name) ? { what: 'of an archive', verb: 'mv' } : null;
}

async function canGo(path: string, dataDir: string, { isYoung }: Leftover): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found === null || found.dev !== statSync(dataDir).dev) return false;
  return isYoung !== true || SYSTEM_CLOCK.now() - found.mtimeMs > STOPPED_AFTER_MS;
}

/**
 * What `prune` would free, and the files that are still kept. Empty if the store cannot be read.
 */
async function prunable({ dataDir, retention }: SpacePatient): Promise<Freeable[]> {
  const now = SYSTEM_CLOCK.now();
  const before = {
    jobs: now - (retention?.retentionMs ?? now),
    usage: now - (retention?.usageRetentionMs ?? now),
    audit: now - (retention?.auditRetentionMs ?? now),
  };
  try {
    const space = spaceOf(dataDir, { now, before });
    if (space === null) return [];
    const { old, expiredAssets, keptAssets } = space;
    const data = `--data ${inShell(dataDir)}`;
    const prune = `gateway-coordinator prune --yes ${data}`;
    const rows = `${old.jobs} finished jobs, ${old.usage} requests, ${old.audit} audit entries`;
    // Files in another place take no space here.
    const isHere = filesMarkOf(dataDir) === null;
    return [
      ...(isHere ? await prunableFiles(dataDir, expiredAssets.bytes, prune) : []),
      { what: `or so of ${rows} whose time is over`, bytes: space.oldBytes, command: prune },
      {
        what: 'of unused pages of the database, and its log',
        bytes: space.freeBytes,
        command: prune,
      },
      {
        what: `of ${keptAssets.count} generated files that are kept for their members`,
        bytes: isHere ? keptAssets.bytes : 0,
        command: `gateway-coordinator asset list ${data}`,
      },
    ];
  } catch {
    // The next checks report what is wrong with the database.
    return [];
  }
}

async function prunableFiles(
  dataDir: string,
  expiredBytes: number,
  command: string,
): Promise<Freeable[]> {
  return [
    { what: 'of generated files whose time is over', bytes: expiredBytes, command },
    { what: 'of files that no row names', bytes: await orphanBytes(dataDir), command },
  ];
}

async function orphanBytes(dataDir: string): Promise<number> {
  const files = openByteStore(dataDir);
  const knownAssets = async (ids: readonly string[]) => assetsAmong(dataDir, ids);
  let sum = 0;
  for await (const { bytes } of orphans(files, { knownAssets }, SYSTEM_CLOCK.now())) sum += bytes;
  return sum;
}
