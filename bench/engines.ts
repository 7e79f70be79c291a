/** Rows that are written straight into the tables of either engine: by the port it takes hours. */
import { join } from 'node:path';
import { numbered } from '@inference-gateway/coordinator/store/postgres/compiled';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';

export const ENGINES = ['sqlite', 'postgres'] as const;

/** Carries out one statement with texts for `@one` and `@two`. */
export type Run = (sql: string, one: string, two: string) => Promise<void>;

/** A place for a store that is not opened yet. */
export interface Place {
  readonly engine: (typeof ENGINES)[number];
  readonly folder: string;
  readonly databaseUrl: string | null;
  readonly run: Run;
}

/** With less, the indexes that are in no order would be read back again and again. */
const CACHE_KIB = 256 * 1024;

export function sqlitePlace(folder: string): Place {
  const run: Run = (sql, one, two) => {
    const database = openDatabase(join(folder, DATABASE_FILE));
    database.pragma('synchronous = off');
    database.pragma(`cache_size = -${CACHE_KIB}`);
    database.prepare(sql).run({ one, two });
    database.close();
    return Promise.resolve();
  };
  return { engine: 'sqlite', folder, databaseUrl: null, run };
}

export function postgresPlace(folder: string, databaseUrl: string): Place {
  const run: Run = async (sql, one, two) => {
    const { text, names } = numbered(sql);
    const values = names.map((name) => (name === 'one' ? one : two));
    await onConnection(databaseUrl, async (connection) => {
      await connection.query({ text: 'set statement_timeout = 0' });
      await connection.query({ text, values, isUnlimited: true });
      // As autovacuum leaves it: what is known of a table decides how it is read.
      await connection.query({ text: 'vacuum analyze', isUnlimited: true });
    });
  };
  return { engine: 'postgres', folder, databaseUrl, run };
}
