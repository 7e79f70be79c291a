/** `gateway-agent jobs`: who uses this machine now, and today's sums. */
import { isoTime, printRows } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { askRunning } from './ask-running.js';
import { decodeJobsReport, decodeTodayReport } from './reports.js';
import type { JobRow, TodayRow } from './reports.js';
import { configOption, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';

interface JobsOptions extends ConfigOption, JsonOption {
  readonly today?: boolean;
}

export function addJobs(program: Command): void {
  program
    .command('jobs')
    .description(
      'list running work with its callers, and results that the coordinator has yet to confirm',
    )
    .option('--today', "today's totals instead, by caller and model")
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('jobs --today'))
    .action(listJobs);
}

async function listJobs({ config, json = false, today }: JobsOptions): Promise<void> {
  if (today === true) {
    return printRows(decodeTodayReport(await askRunning(config, 'today')), TODAY_COLUMNS, json);
  }
  return printRows(decodeJobsReport(await askRunning(config, 'jobs')), JOB_COLUMNS, json);
}

const JOB_COLUMNS = {
  id: ({ id }: JobRow) => id,
  kind: ({ kind }: JobRow) => kind,
  phase: ({ phase }: JobRow) => phase,
  since: ({ since }: JobRow) => isoTime(since),
  model: ({ model }: JobRow) => model,
  endpoint: ({ endpoint }: JobRow) => endpoint,
  caller: ({ caller }: JobRow) => caller,
  own: ({ own }: JobRow) => own,
  'tokens in': ({ prompt_tokens: tokens }: JobRow) => tokens,
  'tokens out': ({ completion_tokens: tokens }: JobRow) => tokens,
  seconds: ({ seconds }: JobRow) => seconds,
  wh: ({ energy_wh: wh }: JobRow) => wh,
  bytes: ({ bytes }: JobRow) => bytes,
};

const TODAY_COLUMNS = {
  caller: ({ caller }: TodayRow) => caller ?? 'all others',
  own: ({ own }: TodayRow) => own,
  model: ({ model }: TodayRow) => model,
  requests: ({ requests }: TodayRow) => requests,
  failed: ({ failed }: TodayRow) => failed,
  'tokens in': ({ prompt_tokens: tokens }: TodayRow) => tokens,
  'tokens out': ({ completion_tokens: tokens }: TodayRow) => tokens,
  seconds: ({ seconds }: TodayRow) => seconds,
  wh: ({ energy_wh: wh }: TodayRow) => wh,
};
