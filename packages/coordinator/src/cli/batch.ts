import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ago, printJson, printRows, say } from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, jsonOption, parseCount } from './options.js';
import type { DataOption, JsonOption } from './options.js';

const DEFAULT_ROWS = 50;

interface ListOptions extends DataOption, JsonOption {
  readonly user?: string;
  readonly limit: number;
}

export function addBatch(program: Command): void {
  const batch = program
    .command('batch')
    .description('batches: jobs that were submitted together')
    .addHelpText('after', example('batch list'));
  batch
    .command('list')
    .description('list batches, newest first')
    .option('--user <member>', 'of one member only')
    .option('--limit <n>', 'at most this many, up to 500', parseCount, DEFAULT_ROWS)
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('batch list --user anna'))
    .action(list);
  batch
    .command('show')
    .description('show the jobs of one batch, in the order of its request')
    .addArgument(reference())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('batch show 01K6ZJ3V0Q8W4M2T7R5X9B1C3D'))
    .action(show);
  batch
    .command('cancel')
    .description('cancel all jobs of a batch that have not ended')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('batch cancel 01K6ZJ3V0Q8W4M2T7R5X9B1C3D'))
    .action(cancel);
}

function reference(): Argument {
  return new Argument('<batch>', 'its id');
}

async function list(options: ListOptions): Promise<void> {
  const { user, limit } = options;
  const rows = await admin(options, 'batch.list', { user: user ?? null, limit });
  printRows(rows, COLUMNS, options.json === true);
}

async function show(batch: string, options: DataOption & JsonOption): Promise<void> {
  const record = await admin(options, 'batch.show', { batch });
  if (options.json === true) return printJson(record);
  printRows(record.jobs, JOB_COLUMNS, false);
  say(told(record));
}

async function cancel(batch: string, options: DataOption): Promise<void> {
  say(told(await admin(options, 'batch.cancel', { batch })));
}

type Row = AdminResult<'batch.list'>[number];
type JobRow = AdminResult<'batch.show'>['jobs'][number];

/** Written to stderr: counts among the rows of jobs would be taken for a job. */
function told({ id, status, total, ...counts }: Row): string {
  const { queued, processing, processed, failed, canceled } = counts;
  return (
    `Batch ${id} is ${status}. Of ${total} jobs: ${queued} queued, ${processing} processing, ` +
    `${processed} processed, ${failed} failed, ${canceled} canceled.`
  );
}

const COLUMNS = {
  id: ({ id }: Row) => id,
  status: ({ status }: Row) => status,
  owner: ({ owner }: Row) => owner,
  label: ({ label }: Row) => label,
  total: ({ total }: Row) => total,
  queued: ({ queued }: Row) => queued,
  processing: ({ processing }: Row) => processing,
  processed: ({ processed }: Row) => processed,
  failed: ({ failed }: Row) => failed,
  canceled: ({ canceled }: Row) => canceled,
  age: ({ created_at: at }: Row) => ago(at, SYSTEM_CLOCK.now()),
};

const JOB_COLUMNS = {
  index: ({ index }: JobRow) => index,
  id: ({ id }: JobRow) => id,
  status: ({ status }: JobRow) => status,
  type: ({ inference_type }: JobRow) => inference_type,
};
