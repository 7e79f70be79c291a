/** `gateway-agent pause`, `resume` and `drain`: whose work the running agent accepts. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { isoTime, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import { askRunning } from './ask-running.js';
import { parseDuration, parseTimeOfDay, configOption, example } from './options.js';
import type { ConfigOption } from './options.js';
import { decodeOwnerReason, ownerReasonText } from './reports.js';

interface PauseOptions extends ConfigOption {
  /** Milliseconds. */
  readonly for?: number;
  /** Unix ms. */
  readonly until?: number;
  readonly now?: boolean;
}

interface DrainOptions extends ConfigOption {
  /** Milliseconds. */
  readonly timeout: number;
}

export function addPause(program: Command): void {
  program
    .command('pause')
    .description("accept only your own work; others' running work is finished")
    .option('--for <duration>', '90s, 30m, 2h or 7d; default: until "resume"', parseDuration)
    .option('--until <time>', 'a time of day on this machine, such as 22:00', parseTimeOfDay)
    .option('--now', "hand back others' running work instead of finishing it")
    .addOption(configOption())
    .addHelpText('after', example('pause --until 22:00 --now'))
    .action(pause);
}

export function addResume(program: Command): void {
  program
    .command('resume')
    .description("accept everybody's work again, after a pause or a drain")
    .addOption(configOption())
    .addHelpText('after', example('resume'))
    .action(resume);
}

export function addDrain(program: Command): void {
  program
    .command('drain')
    .description('accept no work and wait until nothing runs; the agent itself keeps running')
    .addOption(
      new Option('--timeout <duration>', 'exit 8 after this time')
        .argParser(parseDuration)
        .default(parseDuration('10m'), '10m'),
    )
    .addOption(configOption())
    .addHelpText('after', example('drain --timeout 30m'))
    .action(drain);
}

async function pause(options: PauseOptions): Promise<void> {
  const { config, now = false } = options;
  const until = endOf(options);
  await askRunning(config, 'pause', { until, now });
  const end = until === null ? 'until "gateway-agent resume"' : `until ${isoTime(until)}`;
  say(`Paused ${end}: only your own work is accepted.`);
}

async function resume({ config }: ConfigOption): Promise<void> {
  const reason = decodeOwnerReason(await askRunning(config, 'resume'));
  say(
    reason === null ? "Everybody's work is accepted." : `Resumed, but ${ownerReasonText(reason)}.`,
  );
}

async function drain({ config, timeout }: DrainOptions): Promise<void> {
  await askRunning(config, 'drain', { timeout_ms: timeout });
  say('Drained: nothing runs, and no work is accepted until "gateway-agent resume".');
}

function endOf({ for: forMs, until }: PauseOptions): number | null {
  if (forMs === undefined) return until ?? null;
  if (until === undefined) return SYSTEM_CLOCK.now() + forMs;
  throw new CommandError(EXIT.usage, '--for and --until are two ends of one pause: give one.');
}
