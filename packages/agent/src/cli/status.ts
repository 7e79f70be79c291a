/** `gateway-agent status`: asks the running agent of this configuration. */
import { ago, printJson, printRecord, printRows } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { locateConfig } from '../config.js';
import { readConfigFile } from '../config-file.js';
import type { ConfigLocation } from '../config-location.js';
import { askAgent } from '../state/control.js';
import { notRunning } from './ask-running.js';
import { configOption, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { decodeStatusReport } from './status-report.js';
import type { StatusReport } from './status-report.js';

interface StatusOptions extends ConfigOption, JsonOption {}

export function addStatus(program: Command): void {
  program
    .command('status')
    .description('show the link and each service of the running agent; exits 9 when none runs')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('status --json'))
    .action(showStatus);
}

async function showStatus({ config, json }: StatusOptions): Promise<void> {
  const location = locateConfig(config);
  const answer = await askAgent(location.stateDir, 'status');
  if (answer === null) return reportStopped(location, json === true);
  const report = decodeStatusReport(answer.result);
  if (json === true) printJson(report);
  else showReport(report, Date.now());
}

/** A broken configuration is no reason not to tell: only a named file must exist. */
async function reportStopped(location: ConfigLocation, json: boolean): Promise<never> {
  const { config } = await readConfigFile(location);
  const { file } = location;
  if (json)
    printJson({ running: false, config: file, url: config.url ?? null, name: config.name ?? null });
  throw notRunning(file);
}

function showReport(report: StatusReport, nowMs: number): void {
  const reason = report.reason === null ? '' : `: ${report.reason}`;
  printRecord(
    {
      connection: `${report.connection} for ${ago(report.since, nowMs)}${reason}`,
      name: report.name,
      coordinator: report.url,
      working_on: report.streams,
      lets_in: letsIn(report),
    },
    false,
  );
  if (process.stdout.isTTY) process.stdout.write('\n');
  printRows(report.services, serviceColumns(nowMs), false);
}

function letsIn({ accepts, paused_until: until }: StatusReport): string {
  if (accepts === 'all') return "everybody's work";
  if (accepts === 'none') return 'nothing';
  return until === null
    ? 'your own work'
    : `your own work until ${new Date(until).toLocaleString()}`;
}

function serviceColumns(nowMs: number) {
  type Service = StatusReport['services'][number];
  return {
    service: ({ id }: Service) => id,
    state: ({ state }: Service) => state,
    for: ({ since }: Service) => ago(since, nowMs),
    backend: ({ backend }: Service) => backend,
    slots: ({ slots }: Service) => slots,
    models: ({ models }: Service) => models.join(', '),
    reason: ({ reason }: Service) => reason,
  };
}
