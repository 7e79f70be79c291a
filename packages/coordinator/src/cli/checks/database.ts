/** The database: its schema, its integrity, and the clock that wrote it. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { CommandError } from '@inference-gateway/shared/program/command-error';
import { withoutPassword } from '../../store/database-url.js';
import { inspectPostgres, inspectStore } from '../../store/open.js';
import type { Inspection, PostgresInspection } from '../../store/open.js';

const MAX_CLOCK_LEAD_MS = 300_000;
const RESTORE = 'Stop the coordinator, and restore with: gateway-coordinator restore <backup>';
const NEEDS_ROOM = /^SQLITE_(IOERR|FULL|CANTOPEN)/;
const LOOK_AGAIN =
  'It need not be damaged. Free space first, and look again with: gateway-coordinator doctor';
const NEWER_PROGRAM =
  'Update the program to the newer version; see this one with: gateway-coordinator version';
const SET_CLOCK = 'Set it with: sudo timedatectl set-ntp true';

/** `isFull`: the disk has hardly any free space. */
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
    checkClock(inspection.newestTimeMs, SYSTEM_CLOCK.now()),
  ];
}

/**
 * `database`, `schema`, `clock` and `nodes` of a database on PostgreSQL, which checks its files
 * itself. `self` is null if the configuration is wrong.
 */
export async function checkPostgres(url: string, self: NodeSettings | null): Promise<Check[]> {
  const { pass, fail } = checking('database');
  try {
    const found = await inspectPostgres(url);
    return [
      pass(`${withoutPassword(url)}, PostgreSQL ${found.serverVersion}`),
      checkSchema(found.migrations),
      checkClocks(found, SYSTEM_CLOCK.now()),
      checkNodes(found, self),
    ];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const skipped = ['schema', 'clock', 'nodes'].map((name) => checking(name));
    const advice = 'Correct GATEWAY_DATABASE_URL, or see the log of the server.';
    return [
      fail(error.message, advice),
      ...skipped.map(({ skip }) => skip('needs "database", which failed')),
    ];
  }
}

/** A coordinator's name and URL for the others. */
export type NodeSettings = NonNullable<PostgresInspection['running']>[number];

const SET_URLS =
  'Set it for each of them, so that they reach each other: see docs/operations/scale-out.md.';

/** The other coordinators that run. Two of a database work only if they reach each other. */
function checkNodes({ running }: PostgresInspection, self: NodeSettings | null): Check {
  const { pass, warn, skip } = checking('nodes');
  if (self === null) return skip('needs "configuration", which failed');
  if (running === null) return skip("the schema is not this program's");
  // The settings of the running coordinator may differ from those of this shell.
  const own = running.find(({ name }) => name === self.name) ?? self;
  const others = running.filter(({ name }) => name !== own.name);
  if (others.length === 0) return pass(`no other coordinator runs beside ${own.name}`);
  const lacking = [own, ...others].filter(({ url }) => url === null).map(({ name }) => name);
  const names = others.map(({ name }) => name).join(', ');
  const found = `${names} ${others.length === 1 ? 'runs' : 'run'} beside ${own.name}`;
  if (lacking.length === 0) return pass(found);
  return warn(`${found}; without GATEWAY_NODE_URL: ${lacking.join(', ')}`, SET_URLS);
}

/** Leases and limits compare times of this machine with those that others wrote. */
const MAX_SKEW_MS = 1_000;

function checkClocks({ clockLeadMs, newestTimeMs }: PostgresInspection, nowMs: number): Check {
  if (Math.abs(clockLeadMs) <= MAX_SKEW_MS) return checkClock(newestTimeMs, nowMs);
  const seconds = Math.round(Math.abs(clockLeadMs) / 100) / 10;
  const order = clockLeadMs > 0 ? 'ahead of' : 'behind';
  const found = `the clock of the database server is ${seconds} s ${order} this machine's`;
  return checking('clock').warn(found, SET_CLOCK);
}

/** The doctor must work even if the file cannot be read. */
function inspect(dataDir: string, isFull: boolean): Inspection | Check {
  try {
    return inspectStore(dataDir);
  } catch (error) {
    const { message, code = '' } = error as Error & { readonly code?: string };
    const { fail } = checking('database');
    if (error instanceof CommandError) return fail(message, 'Set it for "doctor", too.');
    // If no process has it open, SQLite needs a file of 32 KiB beside it to read its log.
    if (isFull && NEEDS_ROOM.test(code)) return fail(`${message}: the disk is full`, LOOK_AGAIN);
    return fail(message, RESTORE);
  }
}

function checkSchema({
  schemaVersion,
  newestSchemaVersion,
}: Pick<Inspection, 'schemaVersion' | 'newestSchemaVersion'>): Check {
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

/** A clock that was set back would let expired keys work again. */
function checkClock(newestTimeMs: number | null, nowMs: number): Check {
  const { pass, fail } = checking('clock');
  const found = new Date(nowMs).toISOString();
  const lead = (newestTimeMs ?? 0) - nowMs;
  if (lead <= MAX_CLOCK_LEAD_MS) return pass(found);
  const minutes = Math.round(lead / 60_000);
  return fail(`${found}, and the database was written ${minutes} min later`, SET_CLOCK);
}
