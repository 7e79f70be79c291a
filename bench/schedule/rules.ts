/** The matcher's rules, each of which can be left out: it sees less then, and decides as ever. */
import type { Candidate } from '@inference-gateway/coordinator/core/routing/match';
import { UNMEASURED } from '@inference-gateway/coordinator/core/routing/pace';

export type Rule =
  | 'measured speed'
  | 'busy cards'
  | 'loaded models'
  | 'learned load times'
  | 'newcomers first'
  | 'fading'
  | 'breaker'
  | 'share of failures'
  | 'affinity';

export type RuleSet = readonly Rule[];

/** A candidate as the matcher sees it without the rules in `off`. */
export function asSeenWithout(off: ReadonlySet<Rule>, candidate: Candidate): Candidate {
  let { pace, paceAgeMs, busySlots, failureShare, health, model } = candidate;
  if (off.has('measured speed')) pace = { ...UNMEASURED, loadMs: pace.loadMs };
  if (off.has('learned load times')) pace = { ...pace, loadMs: null };
  if (off.has('newcomers first') && pace.measuredAt === null) pace = SLOW;
  if (off.has('loaded models')) model = { ...model, loaded: null };
  if (off.has('fading')) paceAgeMs = 0;
  if (off.has('busy cards')) busySlots = 0;
  if (off.has('share of failures')) failureShare = 0;
  if (off.has('breaker')) health = 'closed';
  return { ...candidate, pace, paceAgeMs, busySlots, failureShare, health, model };
}

/** Who is not known is expected to be bad. */
const SLOW = { ...UNMEASURED, firstByteMs: 10_000, tokensPerSecond: 1 };
