/** The checks of a doctor command, in order of their dependencies, and its exit code. */
import { CommandError, EXIT } from './command-error.js';
import type { Freeable } from './disk.js';
import { bytesText, print, printRows, statusText, terminalWidth, wrap } from './print.js';

/** WARN does not fail the command; SKIP could not be examined, or need not be. */
export type CheckStatus = 'PASS' | 'WARN' | 'FAIL' | 'SKIP';

/** The result of a check. */
export interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: CheckStatus;
  readonly found: string;
  /** The advice; null if there is nothing to do. That of a failure ends with a command. */
  readonly advice: string | null;
  /** If space is short: what can be deleted, the best first. */
  readonly freeable?: readonly Freeable[];
}

/** Creates the possible results of a check. */
export interface Checking {
  readonly pass: (found: string) => Check;
  readonly warn: (found: string, advice: string, freeable?: readonly Freeable[]) => Check;
  readonly fail: (found: string, advice: string, freeable?: readonly Freeable[]) => Check;
  readonly skip: (why: string) => Check;
}

export function checking(name: string): Checking {
  const about = { id: name.replaceAll(' ', '_'), name };
  return {
    pass: (found) => ({ ...about, status: 'PASS', found, advice: null }),
    warn: (found, advice, freeable) => ({
      ...about,
      status: 'WARN',
      found,
      advice,
      ...(freeable && { freeable }),
    }),
    fail: (found, advice, freeable) => ({
      ...about,
      status: 'FAIL',
      found,
      advice,
      ...(freeable && { freeable }),
    }),
    skip: (why) => ({ ...about, status: 'SKIP', found: why, advice: null }),
  };
}

/** Whether checks that depend on this one can be run. */
export function isFit({ status }: Check): boolean {
  return status === 'PASS' || status === 'WARN';
}

/** Why checks that depend on these are skipped; null if they can be run. */
export function obstacle(...needed: readonly Check[]): string | null {
  const first = needed.find((check) => !isFit(check));
  if (first === undefined) return null;
  return first.status === 'FAIL' ? `needs "${first.name}", which failed` : first.found;
}

/** Prints all of them. Throws with exit code 9 if one has failed. */
export function reportChecks(checks: readonly Check[], json: boolean): void {
  if (json || !process.stdout.isTTY) printRows(checks, COLUMNS, json);
  else print(linesOf(checks, terminalWidth()).join('\n'));
  const failed = checks.filter(({ status }) => status === 'FAIL');
  if (failed.length === 0) return;
  const names = failed.map(({ name }) => name).join(', ');
  throw new CommandError(
    EXIT.checkFailed,
    `${failed.length} of ${checks.length} failed: ${names}.`,
  );
}

/** For a terminal: the finding and the advice in full, in several lines if necessary. */
function linesOf(checks: readonly Check[], maxWidth: number): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const indent = ' '.repeat('PASS  '.length + width + 2);
  return checks.flatMap((check) => {
    const { status, name, found } = check;
    const [first = '', ...more] = wrap(found, maxWidth - indent.length);
    const advised = adviceOf(check).flatMap((line) => wrap(`→ ${line}`, maxWidth - indent.length));
    return [
      `${statusText(status)}  ${name.padEnd(width)}  ${first}`,
      ...[...more, ...advised].map((line) => `${indent}${line}`),
    ];
  });
}

function adviceOf({ advice, freeable = [] }: Check): string[] {
  const can = freeable.map(({ what, bytes, command }) => `${bytesText(bytes)} ${what}: ${command}`);
  return advice === null ? can : [advice, ...can];
}

const COLUMNS = {
  status: ({ status }: Check) => status,
  check: ({ name }: Check) => name,
  found: ({ found }: Check) => found,
  advice: (check: Check) => (check.advice === null ? null : adviceOf(check).join('; ')),
};
