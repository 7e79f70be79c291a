/** What is written down of a call that has ended: a usage row, and the metrics fed from it. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { sourceOf } from './core/caller.js';
import type { Outcome, Work } from './dispatch/work.js';
import type { Exposition } from './exposition.js';
import type { Measures } from './assets/measures.js';
import type { Store, UsageRow } from './store/port.js';

/** More tokens than any one call can have. */
const MAX_TOKENS = 10_000_000;
/** Longer than any file can be: a header may say anything, and sums must stay whole numbers. */
const MAX_AUDIO_MS = 30 * 86_400_000;

export type Meter = (work: Work, outcome: Outcome, measures: Measures) => void;

/** The row and the metrics are fed at the same moment: neither is ever behind the other. */
export function meterInto(store: Pick<Store, 'recordUsage'>, exposition: Exposition): Meter {
  return (work, outcome, measures) => {
    const row = toUsageRow(work, outcome, measures);
    store.recordUsage([row]);
    exposition.observe(work, outcome, row);
  };
}

function toUsageRow(work: Work, outcome: Outcome, measures: Measures): UsageRow {
  const { usage } = outcome;
  return {
    requestId: work.requestId,
    at: Date.now(),
    memberId: work.caller.memberId,
    keyId: work.caller.keyId,
    providerId: outcome.providerId,
    model: work.model,
    serviceType: ENDPOINTS[work.endpoint].serviceType,
    endpoint: work.endpoint,
    promptTokens: clampTokens(usage?.prompt_tokens),
    completionTokens: clampTokens(usage?.completion_tokens),
    audioMs: Math.min(measures.audioMs, MAX_AUDIO_MS),
    images: measures.images,
    queueMs: outcome.queueMs,
    firstByteMs: outcome.firstByteMs,
    totalMs: Math.round(performance.now() - work.receivedAt),
    attempts: outcome.attempts,
    outcome: outcome.kind,
    errorCode: outcome.error?.code ?? null,
    source: sourceOf(work.caller.keyId),
  };
}

/** An agent's word on usage is hostile: nonsense must not spoil a member's sums. */
function clampTokens(tokens = 0): number {
  return Math.min(tokens, MAX_TOKENS);
}
