/** Options that several commands share, and how a command finds its data folder. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { Argument, Option, InvalidArgumentError } from 'commander';

export { isoTime } from '@inference-gateway/shared/program/print';

export interface DataOption {
  readonly data?: string;
}

export interface JsonOption {
  readonly json?: boolean;
}

export interface YesOption {
  readonly yes?: boolean;
}

export function dataOption(): Option {
  return new Option('--data <dir>', 'the data folder (GATEWAY_DATA; default ./data)');
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON, documented in docs/cli.md');
}

export function yesOption(): Option {
  return new Option('--yes', 'really do it');
}

export function memberArgument(): Argument {
  return new Argument('<member>', 'id, e-mail address or name');
}

/** Refuses an irreversible action without `--yes`. */
export function requireYes({ yes }: YesOption, whatItDoes: string): void {
  if (yes !== true) throw new CommandError(EXIT.usage, `${whatItDoes}: add --yes.`);
}

/** A text for commander's `addHelpText('after', …)`. */
export function example(line: string): string {
  return `\nExample:\n  gateway-coordinator ${line}`;
}

// Durations as typed: `90d`, `12h`, `30m`.
const UNIT_S = { m: 60, h: 3_600, d: 86_400 } as const;

/** Ten years: a longer duration is a mistake, and might end after the last valid date. */
const MAX_S = 3_650 * UNIT_S.d;

/** In seconds. Throws commander's usage error. */
export function parseDuration(written: string): number {
  const match = /^([1-9]\d{0,6})([mhd])$/.exec(written);
  const seconds = Number(match?.[1]) * UNIT_S[(match?.[2] ?? 'm') as keyof typeof UNIT_S];
  if (seconds <= MAX_S) return seconds;
  throw new InvalidArgumentError('Write 30m, 12h or 90d; at most 3650d.');
}

// A whole number. The operation checks how large it may be.

/** Throws commander's usage error. */
export function parseCount(written: string): number {
  if (/^[1-9]\d{0,14}$/.test(written)) return Number(written);
  throw new InvalidArgumentError('Write a whole number of at least 1.');
}

export function providerReference(): Argument {
  return new Argument('<provider>', 'id or name; OWNER/NAME if several have that name');
}
