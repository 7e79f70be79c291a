/** Options that several commands have, and how a command comes by its data folder. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { Argument, Option } from 'commander';

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

/** Refuses what cannot be taken back until it is asked for twice. */
export function requireYes({ yes }: YesOption, whatItDoes: string): void {
  if (yes !== true) throw new CommandError(EXIT.usage, `${whatItDoes}: add --yes.`);
}

/** What `addHelpText('after', …)` takes. */
export function example(line: string): string {
  return `\nExample:\n  gateway-coordinator ${line}`;
}
