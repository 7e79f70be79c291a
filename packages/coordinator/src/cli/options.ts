/** Options that several commands share, and how a command finds its data folder. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { parseLimits, QUOTA_UNITS } from '../core/usage/quota.js';
import type { QuotaLimits } from '../core/usage/quota.js';
import { Argument, Option, InvalidArgumentError } from 'commander';

export { isoTime } from '@inference-gateway/shared/program/print';

export interface DataOption {
  readonly data?: string;
  readonly database?: string;
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

export function databaseOption(): Option {
  return new Option(
    '--database <url>',
    'PostgreSQL instead of SQLite, without a password (GATEWAY_DATABASE_URL may have one)',
  );
}

export function filesOption(): Option {
  return new Option(
    '--files <url>',
    'generated files in file:///FOLDER or s3://BUCKET, not the data folder (GATEWAY_FILES_URL)',
  );
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

// Limits of a day or a month: `requests=100,tokens=50000`.

/** Typed instead of limits, or of models: there are none. */
const NONE = 'none';

/** Throws commander's usage error. */
export function parseQuota(written: string): QuotaLimits {
  if (written === NONE) return {};
  const limits = parseLimits(written);
  if (limits !== null) return limits;
  throw new InvalidArgumentError(
    `Write ${QUOTA_UNITS.join('=N, ')}=N, several with commas, or "${NONE}".`,
  );
}

/** Names with commas between. Empty stands for all models: commander makes `''` of null. */
export function parseModels(written: string): readonly string[] {
  if (written === 'any') return [];
  const names = written.split(',').map((name) => name.trim());
  if (names.every((name) => /^[^-]/.test(name))) return names;
  throw new InvalidArgumentError('Write the names of models with commas between, or "any".');
}

/** Paths with commas between, with or without `/v1`; which there are, the operation checks. */
export function parseEndpoints(written: string): readonly string[] {
  if (written === 'any') return [];
  const paths = written.split(',').map((path) => path.trim());
  if (paths.every((path) => path.startsWith('/'))) {
    return paths.map((path) => (path.startsWith('/v1/') ? path : `/v1${path}`));
  }
  const rule = 'Write paths with commas between, such as /v1/chat/completions, or "any".';
  throw new InvalidArgumentError(rule);
}

/** `requests 5/100, tokens 50,000`; null if nothing is limited. */
export function quotaText(limits: Shown, used: QuotaLimits | null = null): string | null {
  const parts = QUOTA_UNITS.filter((unit) => limits[unit] !== null).map((unit) => {
    const of = used === null ? '' : `${used[unit] ?? 0}/`;
    return `${unit} ${of}${limits[unit]}`;
  });
  return parts.length === 0 ? null : parts.join(', ');
}

type Shown = Readonly<Record<(typeof QUOTA_UNITS)[number], number | null>>;

export const QUOTA_VALUE = '<limits>';

export const QUOTA_HELP = 'requests=100,tokens=50000,images=20,audio_s=3600, or "none"';

export function providerReference(): Argument {
  return new Argument('<provider>', 'id or name; OWNER/NAME if several have that name');
}
