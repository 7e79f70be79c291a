import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import {
  ago,
  nested,
  printJson,
  printRecord,
  printRows,
  say,
} from '@inference-gateway/shared/program/print';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { JOB_STATUSES } from '../core/jobs/job.js';
import type { JobStatus } from '../core/jobs/job.js';
import { admin } from './client.js';
import { dataOption, example, isoTime, jsonOption, parseCount } from './options.js';
import type { DataOption, JsonOption } from './options.js';

const DEFAULT_ROWS = 50;

interface ListOptions extends DataOption, JsonOption {
  readonly user?: string;
  readonly status?: JobStatus;
  readonly active?: boolean;
  readonly limit: number;
}

export function addJob(program: Command): void {
  const job = program
    .command('job')
    .description('jobs: asynchronous requests, whose callers fetch the result later')
    .addHelpText('after', example('job list --active'));
  job
    .command('list')
    .description('list jobs, newest first')
    .option('--user <member>', 'of one member only')
    .addOption(new Option('--status <status>', 'in this state only').choices(JOB_STATUSES))
    .addOption(new Option('--active', 'only those that have not ended').conflicts('status'))
    .option('--limit <n>', 'at most this many, up to 500', parseCount, DEFAULT_ROWS)
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('job list --user anna --status FAILED'))
    .action(list);
  job
    .command('show')
    .description('show one job: its state, its provider, why it failed')
    .addArgument(reference())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('job show 01K6ZJ3V0Q8W4M2T7R5X9B1C3D'))
    .action(show);
  addChangingCommands(job);
}

function addChangingCommands(job: Command): void {
  job
    .command('cancel')
    .description('cancel a job that has not ended; if it runs on a GPU, it is stopped')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('job cancel 01K6ZJ3V0Q8W4M2T7R5X9B1C3D'))
    .action(cancel);
  job
    .command('retry')
    .description('queue a FAILED or CANCELED job again, with the same request')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('job retry 01K6ZJ3V0Q8W4M2T7R5X9B1C3D'))
    .action(retry);
}

function reference(): Argument {
  return new Argument('<job>', 'its id');
}

async function list(options: ListOptions): Promise<void> {
  const { user, status, active, limit } = options;
  const rows = await admin(options, 'job.list', {
    user: user ?? null,
    status: status ?? null,
    active: active === true,
    limit,
  });
  printRows(rows, COLUMNS, options.json === true);
}

async function show(job: string, options: DataOption & JsonOption): Promise<void> {
  const record = await admin(options, 'job.show', { job });
  if (options.json === true) return printJson(record);
  const { error, failed_attempts: failures, assets, ...rest } = record;
  printRecord({
    ...rest,
    error: error && `${error.code}: ${error.message}`,
    failed_attempts: nested(failures, FAILURE_COLUMNS),
    assets: nested(assets, ASSET_COLUMNS),
  });
}

async function cancel(job: string, options: DataOption): Promise<void> {
  const { id, was_running: wasRunning, provider } = await admin(options, 'job.cancel', { job });
  say(`Job ${id} is canceled${wasRunning ? `; ${provider ?? 'its provider'} stops it` : ''}.`);
}

async function retry(job: string, options: DataOption): Promise<void> {
  const { id } = await admin(options, 'job.retry', { job });
  say(`Job ${id} is queued again. "job show ${id}" tells where it stands.`);
}

type Row = AdminResult<'job.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  status: ({ status }: Row) => status,
  owner: ({ owner }: Row) => owner,
  type: ({ inference_type }: Row) => inference_type,
  model: ({ model }: Row) => model,
  age: ({ created_at: at }: Row) => ago(at, SYSTEM_CLOCK.now()),
  attempts: ({ attempts, max_attempts }: Row) => `${attempts}/${max_attempts}`,
  provider: ({ provider }: Row) => provider,
  reason: ({ waiting_reason: reason, error }: Row) => reason ?? error?.code,
};

type Shown = AdminResult<'job.show'>;
type Failure = Shown['failed_attempts'][number];
type Asset = Shown['assets'][number];

const FAILURE_COLUMNS = {
  attempt: ({ attempt }: Failure) => attempt,
  provider: ({ provider }: Failure) => provider,
  failed: ({ failed_at: at }: Failure) => isoTime(at),
  error: ({ error }: Failure) => `${error.code}: ${error.message}`,
};

const ASSET_COLUMNS = {
  id: ({ id }: Asset) => id,
  type: ({ content_type: type }: Asset) => type,
  bytes: ({ bytes }: Asset) => bytes,
};
