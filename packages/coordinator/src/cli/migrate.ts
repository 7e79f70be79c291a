import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { printJson, printRecord } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { hasStore, migrationsOf, openStore } from '../store/open.js';
import type { MigrationStatus } from '../store/open.js';
import { enterData, noStore } from './client.js';
import { dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

interface MigrateOptions extends DataOption, JsonOption {
  readonly status?: boolean;
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description("update the database's tables to this version, as start does")
    .option('--status', 'only list pending migrations; exits 9 if there are any')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('migrate --status'))
    .action(migrate);
}

async function migrate(options: MigrateOptions): Promise<void> {
  const dataDir = enterData(options);
  if (!hasStore(dataDir)) throw noStore(dataDir);
  const isJson = options.json === true;
  if (options.status === true) return showStatus(migrationsOf(dataDir), isJson);
  const { pending } = migrationsOf(dataDir);
  await (await openStore(dataDir)).close();
  const { schemaVersion, backups } = migrationsOf(dataDir);
  (isJson ? printJson : printRecord)({ schema_version: schemaVersion, applied: pending, backups });
}

function showStatus(status: MigrationStatus, isJson: boolean): void {
  const { schemaVersion, newestSchemaVersion: newest, pending, backups } = status;
  (isJson ? printJson : printRecord)({ schema_version: schemaVersion, newest, pending, backups });
  if (schemaVersion > newest) {
    const message = `the database has schema ${schemaVersion}, this program knows up to ${newest}.`;
    throw new CommandError(EXIT.schemaNewer, `${message} Run the newer program.`);
  }
  if (pending.length === 0) return;
  const count = pending.length === 1 ? '1 migration is' : `${pending.length} migrations are`;
  throw new CommandError(
    EXIT.checkFailed,
    `${count} pending: "start" applies them, after a copy; so does "migrate".`,
  );
}
