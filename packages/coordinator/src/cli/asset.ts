import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import {
  ago,
  printJson,
  printRows,
  say,
  printRecord,
} from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import {
  dataOption,
  example,
  isoTime,
  jsonOption,
  parseCount,
  requireYes,
  yesOption,
} from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

const DEFAULT_ROWS = 50;

interface ListOptions extends DataOption, JsonOption {
  readonly user?: string;
  readonly limit: number;
}

export function addAsset(program: Command): void {
  const asset = program
    .command('asset')
    .description('assets: the files that models made for members')
    .addHelpText('after', example('asset list --user anna'));
  asset
    .command('list')
    .description('list assets, newest first')
    .option('--user <member>', 'of one member only')
    .option('--limit <n>', 'at most this many, up to 1000', parseCount, DEFAULT_ROWS)
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('asset list --user anna --limit 10'))
    .action(list);
  asset
    .command('verify')
    .description('compare every file with the database; exits 9 if one is missing or damaged')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('asset verify'))
    .action(verify);
}

async function list(options: ListOptions): Promise<void> {
  const { user, limit } = options;
  const rows = await admin(options, 'asset.list', { user: user ?? null, limit });
  printRows(rows, COLUMNS, options.json === true);
}

async function verify(options: DataOption & JsonOption): Promise<void> {
  const report = await admin(options, 'asset.verify', {});
  if (options.json === true) printJson(report);
  else printRows(report.faults, FAULT_COLUMNS, false);
  const lost = report.faults.filter(({ fault }) => fault !== 'orphan').length;
  if (lost > 0) {
    const message = `${lost} of ${report.checked} assets are missing or damaged: restore a backup.`;
    throw new CommandError(EXIT.checkFailed, message);
  }
  const orphans = report.faults.length;
  const rest = orphans === 0 ? '' : ` "prune" deletes the ${orphans} orphans.`;
  say(`${report.checked} assets are whole.${rest}`);
}

type Row = AdminResult<'asset.list'>[number];

type Fault = AdminResult<'asset.verify'>['faults'][number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  owner: ({ owner }: Row) => owner,
  type: ({ content_type }: Row) => content_type,
  bytes: ({ bytes }: Row) => bytes,
  seconds: ({ seconds }: Row) => seconds,
  model: ({ model }: Row) => model,
  made: ({ created_at: at }: Row) => ago(at, SYSTEM_CLOCK.now()),
  expires: ({ expires_at: at }: Row) => isoTime(at),
};

const FAULT_COLUMNS = {
  id: ({ id }: Fault) => id,
  fault: ({ fault }: Fault) => fault,
  detail: ({ detail }: Fault) => detail,
};

interface PruneOptions extends DataOption, JsonOption, YesOption {
  readonly dryRun?: boolean;
}

export function addPrune(program: Command): void {
  program
    .command('prune')
    .description('delete expired assets, and files that the database does not know')
    .option('--dry-run', 'only list what would be deleted')
    .addOption(yesOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('prune --dry-run'))
    .action(prune);
}

async function prune(options: PruneOptions): Promise<void> {
  const isDryRun = options.dryRun === true;
  if (!isDryRun) requireYes(options, 'prune deletes for good; --dry-run only counts the files');
  const report = await admin(options, 'asset.prune', { dry_run: isDryRun });
  (options.json === true ? printJson : printRecord)(report);
}
