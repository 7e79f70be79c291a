/** What a bench holds the gateway to, as ratios and differences within one run. */
import type { Samples } from './samples.js';
import { formatNumber, table } from './table.js';

export interface Target {
  readonly says: string;
  readonly goal: number;
  /** Whether more or less is better. */
  readonly better: 'more' | 'less';
  readonly unit: string;
  readonly measure: (of: Read) => number;
}

/** Reads a subject's metric; NaN if it was not measured. */
export type Read = (subject: string, metric: string) => number;

export type Verdict = 'met' | 'missed' | 'not measured';

export function judge(target: Target, samples: Samples): { value: number; verdict: Verdict } {
  const value = target.measure((subject, metric) => samples.median(subject, metric));
  if (!Number.isFinite(value)) return { value, verdict: 'not measured' };
  const met = target.better === 'more' ? value >= target.goal : value <= target.goal;
  return { value, verdict: met ? 'met' : 'missed' };
}

export function targetTable(targets: readonly Target[], samples: Samples): string {
  const rows = targets.map((target) => {
    const { value, verdict } = judge(target, samples);
    const sign = target.better === 'more' ? '≥' : '≤';
    const measured = Number.isFinite(value) ? `${formatNumber(value, 2)}${target.unit}` : '–';
    return [target.says, `${sign} ${target.goal}${target.unit}`, measured, verdict];
  });
  return table(['Target', 'goal', 'measured', ''], rows);
}

export function atLeast(goal: number, says: string, measure: Target['measure']): Target {
  return { says, goal, better: 'more', unit: ' ×', measure };
}

export function atMost(goal: number, says: string, measure: Target['measure']): Target {
  return { says, goal, better: 'less', unit: ' ×', measure };
}

/** The gateway's metric over another subject's. */
export function ratio(of: Read, metric: string, against: string): number {
  return of('gateway', metric) / of(against, metric);
}
