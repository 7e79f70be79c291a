/** `gateway-agent wait`: waits until the agent is online, for scripts. */
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { print } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import { readSoundConfig } from '../config/file.js';
import { askAgent } from '../state/control.js';
import { parseDuration, configOption, enterConfig, example } from './options.js';
import type { ConfigOption } from './options.js';
import { decodeStatusReport } from './reports.js';
import type { StatusReport } from './reports.js';

interface WaitOptions extends ConfigOption {
  /** Milliseconds. */
  readonly timeout: number;
}

const LOOK_MS = 250;

export function addWait(program: Command): void {
  program
    .command('wait')
    .description('wait until the agent is online and has asked each local server')
    .addOption(
      new Option('--timeout <duration>', 'exit 8 after this time')
        .argParser(parseDuration)
        .default(parseDuration('1m'), '1m'),
    )
    .addOption(configOption())
    .addHelpText('after', example('wait --timeout 5m && echo ready'))
    .action(wait);
}

async function wait({ config, timeout }: WaitOptions): Promise<void> {
  const location = enterConfig(config);
  const { stateDir } = location;
  await readSoundConfig(location);
  const end = performance.now() + timeout;
  for (;;) {
    const answer = await askAgent(stateDir, 'status');
    const report = answer === null ? null : decodeStatusReport(answer.result);
    const missing = missingFrom(report);
    if (missing === null) return print(`online as ${report?.name} at ${report?.url}`);
    if (performance.now() >= end) throw tooLate(timeout, missing);
    await pause(LOOK_MS);
  }
}

/** Null if nothing is missing. */
function missingFrom(report: StatusReport | null): string | null {
  if (report === null) return 'no agent runs: start it with "gateway-agent start"';
  if (report.connection !== 'online') return report.reason ?? report.connection;
  const asked = report.services.find(({ state }) => state === 'starting');
  return asked === undefined ? null : `${asked.id} at ${asked.base_url} has not answered yet`;
}

function tooLate(timeoutMs: number, missing: string): CommandError {
  return new CommandError(EXIT.timeout, `not online after ${timeoutMs / 1_000} s: ${missing}.`);
}
