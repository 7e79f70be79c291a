/** What the doctor and `migrate --status` ask of a database, whether or not it is in use. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { MigrationStatus } from '../migration-files.js';
import { RUNNING_NODES } from '../operations/nodes/nodes.js';
import { onConnection } from './connection.js';
import { appliedMigrations } from './migrations.js';
import { leadOf } from './watch.js';

export interface PostgresInspection {
  readonly migrations: MigrationStatus;
  /** As the server names it: `18.4`. */
  readonly serverVersion: string;
  /** By how much the server's clock is ahead of this machine's at least. */
  readonly clockLeadMs: number;
  /** Null before the first migration. */
  readonly newestTimeMs: number | null;
  /** The coordinators that run; null if the schema is not this program's. */
  readonly running: readonly RunningNode[] | null;
}

/** `url`: where others reach it; null: they do not. */
export interface RunningNode {
  readonly name: string;
  readonly url: string | null;
}

const NEWEST_TIME = `select max(at) as newest from (
  select max(created_at) as at from members
  union all select max(greatest(created_at, last_used_at)) from api_keys
  union all select max(greatest(created_at, last_seen_at)) from providers) as times`;

const SERVER = `select current_setting('server_version') as version,
  floor(extract(epoch from clock_timestamp()) * 1000)::bigint as at`;

/** Throws a `CommandError`. */
export function inspectServer(url: string): Promise<PostgresInspection> {
  return onConnection(url, async (connection) => {
    const migrations = await appliedMigrations(connection, url);
    const askedAt = SYSTEM_CLOCK.now();
    const server = await connection.query<{ version: string; at: number }>({ text: SERVER });
    const tripMs = SYSTEM_CLOCK.now() - askedAt;
    const clockLeadMs = leadOf((server.rows[0]?.at ?? askedAt) - askedAt, tripMs);
    const { schemaVersion, newestSchemaVersion } = migrations;
    // A newer program may have other tables.
    const isKnown = schemaVersion > 0 && schemaVersion <= newestSchemaVersion;
    const read = { text: isKnown ? NEWEST_TIME : 'select null as newest' };
    const times = await connection.query<{ newest: number | null }>(read);
    const isOwn = schemaVersion === newestSchemaVersion;
    const running = isOwn ? await connection.query<RunningNode>({ text: RUNNING_NODES }) : null;
    return {
      migrations,
      serverVersion: server.rows[0]?.version ?? 'unknown',
      clockLeadMs,
      newestTimeMs: times.rows[0]?.newest ?? null,
      running: running?.rows ?? null,
    };
  });
}
