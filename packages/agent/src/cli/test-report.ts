/** What `test` tells, as it crosses the control socket and as `test --json` prints it. */
import * as z from 'zod';
import type { TestedModel } from '../backends/catalog/catalog.js';
import { decodeAnswer } from './decode-answer.js';

const report = z.object({
  model: z.string(),
  service: z.string(),
  type: z.string(),
  ok: z.boolean(),
  /** Null where not a byte came. */
  first_byte_ms: z.number().nullable(),
  ms: z.number(),
  tokens: z.number().nullable(),
  bytes: z.number(),
  seconds: z.number().nullable(),
  /** Why it is not ok. */
  reason: z.string().nullable(),
  /** Nobody listened, or the agent stopped: that says nothing of the model. */
  cut: z.enum(['unreachable', 'stopped']).nullable(),
});

export type TestReport = z.infer<typeof report>;

/** Reads what the running agent answered. */
export function decodeTestReport(value: unknown): TestReport {
  return decodeAnswer(report, value);
}

/** Without `early`, which is of use to the prover alone. */
export function testReport({ firstByteMs, early: _early, ...rest }: TestedModel): TestReport {
  return { ...rest, first_byte_ms: firstByteMs };
}
