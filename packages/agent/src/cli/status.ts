/** `gateway-agent status`: asks the running agent of this configuration. */
import {
  ago,
  isoTime,
  printJson,
  printRecord,
  printRows,
} from '@inference-gateway/shared/program/print';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Columns } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { readConfigFile } from '../config/file.js';
import type { ConfigLocation } from '../config/file.js';
import { askAgent } from '../state/control.js';
import { notRunning } from './ask-running.js';
import { configOption, enterConfig, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { ownerReasonText, decodeStatusReport } from './reports.js';
import type { StatusReport } from './reports.js';

interface StatusOptions extends ConfigOption, JsonOption {}

export function addStatus(program: Command): void {
  program
    .command('status')
    .description('show the link and each service of the running agent; exits 9 if none runs')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('status --json'))
    .action(showStatus);
}

async function showStatus({ config, json }: StatusOptions): Promise<void> {
  const location = enterConfig(config);
  const answer = await askAgent(location.stateDir, 'status');
  if (answer === null) return reportStopped(location, json === true);
  const report = decodeStatusReport(answer.result);
  if (json === true) printJson(report);
  else showReport(report, SYSTEM_CLOCK.now());
}

/** A broken configuration must not prevent a report: only a named file must exist. */
async function reportStopped(location: ConfigLocation, json: boolean): Promise<never> {
  const { config } = await readConfigFile(location);
  const { file } = location;
  if (json)
    printJson({ running: false, config: file, url: config.url ?? null, name: config.name ?? null });
  throw notRunning(file);
}

function showReport(report: StatusReport, nowMs: number): void {
  const reason = report.reason === null ? '' : `: ${report.reason}`;
  printRecord({
    connection: `${report.connection} for ${ago(report.since, nowMs)}${reason}`,
    name: report.name,
    coordinator: report.url,
    working_on: report.streams,
    lets_in: letsIn(report),
    today: todayLine(report.today),
  });
  printBelow(report.services, serviceColumns(nowMs));
  if (report.gpus.length > 0) printBelow(report.gpus, GPU_COLUMNS);
}

function printBelow<R>(rows: readonly R[], columns: Columns<R>): void {
  if (process.stdout.isTTY) process.stdout.write('\n');
  printRows(rows, columns, false);
}

function letsIn({ accepts, owner_reason: reason }: StatusReport): string {
  if (accepts === 'all') return "everybody's work";
  if (accepts === 'none') return 'nothing';
  if (reason === null) return 'your own work';
  if (reason.kind !== 'paused') return `your own work: ${ownerReasonText(reason)}`;
  return `your own work until ${reason.until === null ? '"resume"' : isoTime(reason.until)}`;
}

/** Zero values are omitted, except the requests. */
function todayLine(today: StatusReport['today']): string {
  const parts = [
    `${today.requests} requests`,
    today.failed > 0 && `${today.failed} failed`,
    today.prompt_tokens > 0 && `${today.prompt_tokens} tokens in`,
    today.completion_tokens > 0 && `${today.completion_tokens} tokens out`,
    `${Math.round(today.seconds)} s`,
    today.energy_wh !== null && `${today.energy_wh} Wh`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

type Gpu = StatusReport['gpus'][number];

const GPU_COLUMNS = {
  gpu: ({ name }: Gpu) => name,
  'use %': ({ use_percent: use }: Gpu) => use,
  'memory mib': ({ memory_used_mib: used }: Gpu) => used,
  'of mib': ({ memory_mib: mib }: Gpu) => mib,
  watts: ({ power_watts: watts }: Gpu) => watts,
};

function serviceColumns(nowMs: number) {
  type Service = StatusReport['services'][number];
  return {
    service: ({ id }: Service) => id,
    state: ({ state }: Service) => state,
    for: ({ since }: Service) => ago(since, nowMs),
    backend: ({ backend }: Service) => backend,
    slots: ({ slots }: Service) => slots,
    models: ({ models }: Service) => models.join(', '),
    reason: ({ reason, held_back: models }: Service) => reason ?? models.map(heldBack).join('; '),
  };
}

type HeldBack = StatusReport['services'][number]['held_back'][number];

/** Why a model is not offered. */
function heldBack({ id, reason }: HeldBack): string {
  return reason === null ? `${id} is being tested` : `${id} failed its test: ${reason}`;
}
