/** `gateway-agent jobs`: the jobs that the running agent holds. */
import { ago, printRows } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { askRunning } from './ask-running.js';
import { decodeJobsReport } from './jobs-report.js';
import type { JobRow } from './jobs-report.js';
import { configOption, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';

export function addJobs(program: Command): void {
  program
    .command('jobs')
    .description('list the jobs that run here, and the results that are not fetched yet')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('jobs --json'))
    .action(listJobs);
}

async function listJobs({ config, json }: ConfigOption & JsonOption): Promise<void> {
  const jobs = decodeJobsReport(await askRunning(config, 'jobs'));
  printRows(jobs, columns(Date.now()), json === true);
}

function columns(nowMs: number) {
  return {
    job: ({ job_id: id }: JobRow) => id,
    phase: ({ phase }: JobRow) => phase,
    for: ({ since }: JobRow) => ago(since, nowMs),
    model: ({ model }: JobRow) => model,
    endpoint: ({ endpoint }: JobRow) => endpoint,
    caller: ({ caller }: JobRow) => caller,
    own: ({ own }: JobRow) => own,
    bytes: ({ bytes }: JobRow) => bytes,
  };
}
