import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { interruption } from '@inference-gateway/shared/program/shutdown';
import { printJson, printRows, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import type { BackupFault, BackupReport } from '../backup/examine-backup.js';
import { restoreBackup } from '../backup/restore-backup.js';
import { verifyBackup } from '../backup/examine-backup.js';
import { locateStore } from '../config/config.js';
import { requireSqlite } from './client.js';
import { DATABASE_FILE } from '../store/open.js';
import { dataOption, example, isoTime, jsonOption, yesOption } from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

interface RestoreOptions extends DataOption, JsonOption, YesOption {
  readonly verify?: boolean;
  readonly partial?: boolean;
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('make a data folder from a backup, or only check the backup')
    .argument('<file>', 'what "backup" wrote')
    .option('--verify', 'only read it; exits 9 if something is missing or damaged')
    .option('--partial', 'restore even if assets are missing or damaged')
    .addOption(yesOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('restore /backup/gateway.tar --data /var/lib/gateway'))
    .action(restore);
}

async function restore(file: string, options: RestoreOptions): Promise<void> {
  if (options.verify === true) return verify(file, options);
  const place = locateStore(options);
  requireSqlite(place, 'a restore');
  const { dataDir } = place;
  const { yes, partial } = options;
  const { report, restored, movedTo } = await restoreBackup({
    file,
    dataDir,
    replace: yes === true,
    partial: partial === true,
    signal: interruption(),
  });
  show(report, { file, ...report, restored, moved_to: movedTo }, options);
  if (!restored) throw faultsIn(file, report, whatToDo(report));
  if (movedTo !== null) say(`What lay in ${dataDir} is in ${movedTo} now.`);
  say(`Restored to ${dataDir}: ${summaryOf(report)}.`);
}

async function verify(file: string, options: RestoreOptions): Promise<void> {
  const report = await verifyBackup(file, interruption());
  show(report, { file, ...report }, options);
  if (report.faults.length > 0) throw faultsIn(file, report, 'Keep an older one.');
  say(`${file} is whole: ${summaryOf(report)}.`);
}

function show(report: BackupReport, whole: object, { json }: JsonOption): void {
  if (json === true) printJson(whole);
  else if (report.faults.length > 0) printFaults(report);
}

export function printFaults({ faults }: BackupReport): void {
  printRows(faults, FAULT_COLUMNS, false);
}

export function faultsIn(file: string, { faults }: BackupReport, advice: string): CommandError {
  const what = faults.length === 1 ? '1 thing' : `${faults.length} things`;
  return new CommandError(
    EXIT.checkFailed,
    `${what} missing from ${file} or damaged in it. ${advice}`,
  );
}

function whatToDo({ faults }: BackupReport): string {
  const isDatabase = faults.some(({ file }) => file === DATABASE_FILE);
  return isDatabase
    ? 'Restore another one.'
    : 'Restore another one, or this one without them: add --partial.';
}

function summaryOf({ assets, asset_bytes, schema_version, created_at }: BackupReport): string {
  const made = isoTime(created_at);
  return `schema ${schema_version}, ${assets} assets of ${asset_bytes} bytes, made ${made}`;
}

const FAULT_COLUMNS = {
  file: ({ file }: BackupFault) => file,
  fault: ({ fault }: BackupFault) => fault,
  detail: ({ detail }: BackupFault) => detail,
};
