import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ago, print, printJson, printRows, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

export function addQueue(program: Command): void {
  const queue = program
    .command('queue')
    .description('the queue of jobs')
    .addHelpText('after', example('queue summary'));
  queue
    .command('summary')
    .description('show waiting and running jobs by model, and whether the dispatcher works')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('queue summary --json'))
    .action(summary);
  queue
    .command('pause')
    .description('start no more jobs, not even after a restart; running jobs continue')
    .addOption(dataOption())
    .addHelpText('after', example('queue pause'))
    .action(pause);
  queue
    .command('resume')
    .description('start jobs again')
    .addOption(dataOption())
    .addHelpText('after', example('queue resume'))
    .action(resume);
  queue
    .command('requeue-stuck')
    .description('retry at once the jobs that wait after a failure; prints how many')
    .addOption(dataOption())
    .addHelpText('after', example('queue requeue-stuck'))
    .action(requeueStuck);
}

async function summary(options: DataOption & JsonOption): Promise<void> {
  const found = await admin(options, 'queue.summary', {});
  if (options.json === true) return printJson(found);
  printRows(found.by_model, COLUMNS, false);
  say(told(found, SYSTEM_CLOCK.now()));
}

async function pause(options: DataOption): Promise<void> {
  await admin(options, 'queue.pause', {});
  say('The queue is paused: running jobs go on, no other starts until "queue resume".');
}

async function resume(options: DataOption): Promise<void> {
  await admin(options, 'queue.resume', {});
  say('The queue is open: jobs start as slots are free.');
}

async function requeueStuck(options: DataOption): Promise<void> {
  const { requeued } = await admin(options, 'queue.requeue-stuck', {});
  print(String(requeued));
  say(`Jobs that waited after a failure and may run now: ${requeued}.`);
}

type Summary = AdminResult<'queue.summary'>;
type Row = Summary['by_model'][number];

/** Written to stderr: a program that adds up the rows would count totals among them twice. */
function told(found: Summary, now: number): string {
  const tick = found.last_tick_at;
  const stalled = found.worker_stalled ? ': it is stalled' : '';
  const ticked =
    tick === null
      ? 'No dispatcher is at work here.'
      : `The dispatcher ticked ${ago(tick, now)} ago${stalled}.`;
  const paused = found.paused ? ' The queue is paused: "queue resume" opens it.' : '';
  const off = found.async_enabled ? '' : ' Jobs are not taken: GATEWAY_ASYNC_ENABLED is off.';
  return (
    `Jobs in all: ${found.queued} queued, ${found.processing} running. ` +
    `${ticked}${paused}${off}`
  );
}

const COLUMNS = {
  model: ({ model }: Row) => model,
  type: ({ service_type }: Row) => service_type,
  queued: ({ queued }: Row) => queued,
  running: ({ running }: Row) => running,
  slots: ({ slots }: Row) => slots,
  providers: ({ providers_online }: Row) => providers_online,
  oldest: ({ oldest_queued_at: at }: Row) => (at === null ? null : ago(at, SYSTEM_CLOCK.now())),
};
