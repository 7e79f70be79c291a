/** What `jobs --today` tells, as it crosses the control socket and as `--json` prints it. */
import * as z from 'zod';
import type { Agent } from '../agent.js';
import { decodeAnswer } from './decode-answer.js';
import { sums, sumsReport } from './sums-report.js';

const row = sums.extend({
  /** The public name. All three are null in the row of those who have no row of their own. */
  caller: z.string().nullable(),
  /** Whether the caller owns this machine. */
  own: z.boolean().nullable(),
  model: z.string().nullable(),
});

export type TodayRow = z.infer<typeof row>;

/** Reads what the running agent answered. */
export function decodeTodayReport(value: unknown): TodayRow[] {
  return decodeAnswer(z.array(row), value);
}

export function todayReport({ today }: Agent['ledger']): TodayRow[] {
  return today.rows.map(({ caller, own, model, ...its }) => ({
    caller,
    own,
    model,
    ...sumsReport(its),
  }));
}
