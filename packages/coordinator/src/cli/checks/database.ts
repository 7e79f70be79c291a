/** The database file: its schema, its integrity, and the clock that wrote it. */
import { inspectStore } from '../../store/open.js';
import type { Inspection } from '../../store/open.js';
import { checking } from './check.js';
import type { Check } from './check.js';

const MAX_CLOCK_LEAD_MS = 300_000;

export function checkDatabase(dataDir: string): Check[] {
  const inspection = inspect(dataDir);
  if ('status' in inspection) return [inspection];
  return [
    checkSchema(inspection),
    checkIntegrity(inspection),
    checkClock(inspection.newestTimeMs, Date.now()),
  ];
}

/** A file that cannot even be read is what this command is for. */
function inspect(dataDir: string): Inspection | Check {
  try {
    return inspectStore(dataDir);
  } catch (error) {
    return checking('database').failed((error as Error).message, 'Restore a backup.');
  }
}

function checkSchema({ schemaVersion, newestSchemaVersion }: Inspection): Check {
  const { ok, warning, failed } = checking('schema');
  if (schemaVersion > newestSchemaVersion) {
    const found = `${schemaVersion}, this program knows up to ${newestSchemaVersion}`;
    return failed(found, 'Run the newer program.');
  }
  if (schemaVersion === newestSchemaVersion) return ok(String(schemaVersion));
  const found = `${schemaVersion}, of ${newestSchemaVersion}`;
  return warning(found, 'The next "start" makes a backup and brings it up to date.');
}

function checkIntegrity({ damages }: Inspection): Check {
  const { ok, failed } = checking('integrity');
  if (damages.length === 0) return ok('no damage');
  return failed(damages.join('; '), 'Stop the coordinator and restore a backup.');
}

/** A clock that was set back would let expired keys work again. */
function checkClock(newestTimeMs: number | null, nowMs: number): Check {
  const { ok, failed } = checking('clock');
  const found = new Date(nowMs).toISOString();
  const lead = (newestTimeMs ?? 0) - nowMs;
  if (lead <= MAX_CLOCK_LEAD_MS) return ok(found);
  const minutes = Math.round(lead / 60_000);
  const advice = `Set it: the database was written ${minutes} min later than that.`;
  return failed(found, advice);
}
