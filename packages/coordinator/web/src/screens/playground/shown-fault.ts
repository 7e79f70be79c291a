import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Fault } from '../../api/fault.js';

/** The part of an error that is kept and shown in place of the answer. */
export interface Shown {
  readonly message: string;
  readonly code: string;
  readonly requestId: string | null;
  /** Unix ms; null if the answer does not say. */
  readonly retryAt: number | null;
}

export function shownOf({ message, code, requestId, retryAfterS }: Fault): Shown {
  const retryAt = retryAfterS === null ? null : SYSTEM_CLOCK.now() + retryAfterS * 1_000;
  return { message, code, requestId, retryAt };
}
