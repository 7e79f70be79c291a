/** What a doctor says: checks in the order in which one leads to the next, and its exit code. */
import { CommandError, EXIT } from './command-error.js';
import type { Freeable } from './disk.js';
import { bytesText, print, printRows, statusText, terminalWidth, wrap } from './print.js';

/** WARN is worth reading and fails nothing; SKIP could not be looked at, or need not be. */
export type CheckStatus = 'PASS' | 'WARN' | 'FAIL' | 'SKIP';

/** What the doctor says of one thing. */
export interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: CheckStatus;
  readonly found: string;
  /** What to do; null if there is nothing to do. That of a failure ends with a command. */
  readonly advice: string | null;
  /** Where room is short: what can go, in the order in which it is best tried. */
  readonly freeable?: readonly Freeable[];
}

/** Names one check and gives the things that it can say. */
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

/** Whether what builds on this check can be looked at. */
export function isFit({ status }: Check): boolean {
  return status === 'PASS' || status === 'WARN';
}

/** Why what builds on these checks is skipped; null if all of them are fit. */
export function obstacle(...needed: readonly Check[]): string | null {
  const first = needed.find((check) => !isFit(check));
  if (first === undefined) return null;
  return first.status === 'FAIL' ? `needs "${first.name}", which failed` : first.found;
}

/** Prints all of them. Throws with exit code 9 where one has failed. */
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

/** For a terminal: what was found and what to do about it whole, in as many lines as it takes. */
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
