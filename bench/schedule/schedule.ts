/** The matcher in simulated time: every situation with all rules, and with some left out. */
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { measure } from './measures.js';
import type { RuleSet } from './rules.js';
import { idealRate, SLOWDOWNS, twoSpeeds } from './scenarios.js';
import { simulate } from './simulation.js';
import { runName, SITUATIONS } from './situations.js';
import type { Situation } from './situations.js';

/** As many as the two cards have slots. */
const MOST_CALLERS = 8;
const QUICK_MS = 5 * 60_000;

/** Without which rules the two cards of different speed are simulated. */
export const SPLITS: readonly RuleSet[] = [[], ['measured speed'], ['busy cards']];

export async function schedule({ quick, say }: BenchOptions): Promise<Samples> {
  const samples = new Samples([]);
  for (const slowdown of SLOWDOWNS) {
    say(`two cards, slowdown ${slowdown}`);
    for (const without of SPLITS) measureSplit(samples, { slowdown, without, quick });
  }
  for (const situation of SITUATIONS) {
    say(situation.title);
    for (const without of [[], ...situation.without]) runOne(samples, situation, without);
  }
  return samples;
}

/** The name of a run in the samples. */
export function splitName(slowdown: number, without: RuleSet): string {
  return runName(`two cards, slowdown ${slowdown}`, without);
}

/** Answers a second, as a share of what the best fixed split of the callers brings. */
export function shareOfIdeal(
  { slowdown, callers }: { readonly slowdown: number; readonly callers: number },
  without: RuleSet = [],
  untilMs = Number.POSITIVE_INFINITY,
): number {
  const whole = twoSpeeds(slowdown, callers);
  const scenario = { ...whole, untilMs: Math.min(whole.untilMs, untilMs) };
  const { answered } = simulate(scenario, without);
  return answered.length / (scenario.untilMs / 1_000) / idealRate(scenario);
}

function measureSplit(
  samples: Samples,
  run: { readonly slowdown: number; readonly without: RuleSet; readonly quick: boolean },
): void {
  const { slowdown, without, quick } = run;
  const untilMs = quick ? QUICK_MS : undefined;
  const shares = Array.from({ length: MOST_CALLERS }, (_, i) =>
    shareOfIdeal({ slowdown, callers: i + 1 }, without, untilMs),
  );
  const name = splitName(slowdown, without);
  samples.add(name, 'worst', Math.min(...shares));
  samples.add(name, 'mean', shares.reduce((sum, share) => sum + share, 0) / shares.length);
}

function runOne(samples: Samples, { title, make, card }: Situation, without: RuleSet): void {
  const measures = measure(simulate(make(), without), card);
  for (const [metric, value] of Object.entries(measures) as [string, number][]) {
    samples.add(runName(title, without), metric, value);
  }
}
