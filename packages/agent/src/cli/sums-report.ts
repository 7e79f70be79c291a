/** Sums of runs, as `status` and `jobs --today` tell them. */
import * as z from 'zod';
import type { AgentStatus } from '../agent.js';

export const sums = z.object({
  requests: z.number(),
  failed: z.number(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  /** Of the requests: those whose tokens the local server did not count. */
  estimated: z.number().default(0),
  /** That the runs took. */
  seconds: z.number(),
  /** Null where no card tells its power. */
  energy_wh: z.number().nullable(),
});

export function sumsReport(of: AgentStatus['today']): z.infer<typeof sums> {
  return {
    requests: of.requests,
    failed: of.failed,
    prompt_tokens: of.promptTokens,
    completion_tokens: of.completionTokens,
    estimated: of.estimated,
    seconds: rounded(of.seconds),
    energy_wh: of.energyWh === null ? null : rounded(of.energyWh),
  };
}

/** To a thousandth: more is noise. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
