/**
 * Checks of the database file: its schema, its integrity, and its newest time against the clock.
 */
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { inspectStore } from '../../store/open.js';
import type { Inspection } from '../../store/open.js';

const MAX_CLOCK_LEAD_MS = 300_000;
const RESTORE = 'Stop the coordinator, and restore with: gateway-coordinator restore <backup>';
const NEEDS_ROOM = /^SQLITE_(IOERR|FULL|CANTOPEN)/;
const LOOK_AGAIN =
  'The database may be intact. Free space first, and check again with: gateway-coordinator doctor';
const NEWER_PROGRAM = 'Update the program; its version is shown by: gateway-coordinator version';
const SET_CLOCK = 'Set it with: sudo timedatectl set-ntp true';

/** `isFull`: the disk has almost no free space. */
export function checkDatabase(dataDir: string, isFull: boolean): Check[] {
  const inspection = inspect(dataDir, isFull);
  if ('status' in inspection) {
    const skipped = ['schema', 'integrity', 'clock'].map((name) => checking(name));
    return [inspection, ...skipped.map(({ skip }) => skip('needs "database", which failed'))];
  }
  return [
    checking('database').pass('it can be read'),
    checkSchema(inspection),
    checkIntegrity(inspection),
    checkClock(inspection.newestTimeMs, Date.now()),
  ];
}

/** An unreadable file is reported as a failed check and never throws. */
function inspect(dataDir: string, isFull: boolean): Inspection | Check {
  try {
    return inspectStore(dataDir);
  } catch (error) {
    const { message, code = '' } = error as Error & { readonly code?: string };
    const { fail } = checking('database');
    // To read the log of a database that no process has open, SQLite creates a file of 32 KiB.
    if (isFull && NEEDS_ROOM.test(code)) return fail(`${message}: the disk is full`, LOOK_AGAIN);
    return fail(message, RESTORE);
  }
}

function checkSchema({ schemaVersion, newestSchemaVersion }: Inspection): Check {
  const { pass, warn, fail } = checking('schema');
  if (schemaVersion > newestSchemaVersion) {
    const found = `${schemaVersion}, this program knows up to ${newestSchemaVersion}`;
    return fail(found, NEWER_PROGRAM);
  }
  if (schemaVersion === newestSchemaVersion) return pass(String(schemaVersion));
  const found = `${schemaVersion}, of ${newestSchemaVersion}`;
  return warn(found, 'The next "start" makes a backup and brings it up to date.');
}

function checkIntegrity({ damages }: Inspection): Check {
  const { pass, fail } = checking('integrity');
  if (damages.length === 0) return pass('no damage');
  return fail(damages.join('; '), RESTORE);
}

/** If the clock was set back, expired keys would work again. */
function checkClock(newestTimeMs: number | null, nowMs: number): Check {
  const { pass, fail } = checking('clock');
  const found = new Date(nowMs).toISOString();
  const lead = (newestTimeMs ?? 0) - nowMs;
  if (lead <= MAX_CLOCK_LEAD_MS) return pass(found);
  const minutes = Math.round(lead / 60_000);
  return fail(`${found}, and the database was written ${minutes} min later`, SET_CLOCK);
}
