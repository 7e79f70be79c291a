/** What a doctor says: checks in the order in which one leads to the next, and its exit code. */
import { CommandError, EXIT } from './command-error.js';
import { printRows } from './print.js';

/** WARN is worth reading and fails nothing; SKIP could not be looked at, or need not be. */
export type CheckStatus = 'PASS' | 'WARN' | 'FAIL' | 'SKIP';

/** What the doctor says of one thing. */
export interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: CheckStatus;
  readonly found: string;
  /** What to do; null where there is nothing to do. That of a failure ends with a command. */
  readonly advice: string | null;
}

/** Names one check and gives the things that it can say. */
export interface Checking {
  readonly pass: (found: string) => Check;
  readonly warn: (found: string, advice: string) => Check;
  readonly fail: (found: string, advice: string) => Check;
  readonly skip: (why: string) => Check;
}

export function checking(name: string): Checking {
  const about = { id: name.replaceAll(' ', '_'), name };
  return {
    pass: (found) => ({ ...about, status: 'PASS', found, advice: null }),
    warn: (found, advice) => ({ ...about, status: 'WARN', found, advice }),
    fail: (found, advice) => ({ ...about, status: 'FAIL', found, advice }),
    skip: (why) => ({ ...about, status: 'SKIP', found: why, advice: null }),
  };
}

/** Whether what builds on this check can be looked at. */
export function isFit({ status }: Check): boolean {
  return status === 'PASS' || status === 'WARN';
}

/** Why what builds on these checks is skipped; null where all of them are fit. */
export function obstacle(...needed: readonly Check[]): string | null {
  const first = needed.find((check) => !isFit(check));
  if (first === undefined) return null;
  return first.status === 'FAIL' ? `needs "${first.name}", which failed` : first.found;
}

/** Prints all of them. Throws with exit code 9 where one has failed. */
export function reportChecks(checks: readonly Check[], json: boolean): void {
  printRows(checks, COLUMNS, json);
  const failed = checks.filter(({ status }) => status === 'FAIL');
  if (failed.length === 0) return;
  const names = failed.map(({ name }) => name).join(', ');
  throw new CommandError(
    EXIT.checkFailed,
    `${failed.length} of ${checks.length} failed: ${names}.`,
  );
}

const COLUMNS = {
  status: ({ status }: Check) => status,
  check: ({ name }: Check) => name,
  found: ({ found }: Check) => found,
  advice: ({ advice }: Check) => advice,
};
