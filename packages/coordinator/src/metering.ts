/** What is written down of a call that has ended: a usage row, and the metrics fed from it. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { sourceOf } from './core/access/caller.js';
import type { MeteredTokens } from './core/usage/usage-bounds.js';
import type { Outcome, Work } from './run/work.js';
import type { Exposition } from './exposition.js';
import type { Measures } from './assets/measures.js';
import type { Store, UsageRow } from './store/port.js';

/** Longer than any file can be: a header may say anything, and sums must stay whole numbers. */
const MAX_AUDIO_MS = 30 * 86_400_000;

export type Meter = (work: Work, outcome: Outcome, measures: Measures) => void;

/** The row and the metrics are fed at the same moment: neither is ever behind the other. */
export function meterInto(store: Pick<Store, 'recordUsage'>, exposition: Exposition): Meter {
  return (work, outcome, measures) => {
    const write = (tokens: MeteredTokens): void => {
      const row = toUsageRow(work, outcome, { ...measures, tokens });
      store.recordUsage([row]);
      exposition.observe(work, row);
    };
    if (outcome.tokens instanceof Promise) void outcome.tokens.then(write);
    else write(outcome.tokens);
  };
}

function toUsageRow(
  work: Work,
  outcome: Outcome,
  { tokens, ...measures }: Measures & { readonly tokens: MeteredTokens },
): UsageRow {
  return {
    requestId: work.requestId,
    at: Date.now(),
    memberId: work.caller.memberId,
    keyId: work.caller.keyId,
    providerId: outcome.providerId,
    model: work.model,
    serviceType: ENDPOINTS[work.endpoint].serviceType,
    endpoint: work.endpoint,
    ...tokens,
    audioMs: Math.min(measures.audioMs, MAX_AUDIO_MS),
    images: measures.images,
    queueMs: outcome.queueMs,
    firstByteMs: outcome.firstByteMs,
    totalMs: outcome.totalMs,
    attempts: outcome.attempts,
    outcome: outcome.kind,
    errorCode: outcome.error?.code ?? null,
    source: sourceOf(work.caller.keyId),
  };
}
