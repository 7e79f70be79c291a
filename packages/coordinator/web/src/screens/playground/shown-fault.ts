import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Fault } from '../../api/fault.js';

/** What is kept of a fault: it is shown for as long as the answer that it stands for. */
export interface Shown {
  readonly message: string;
  readonly code: string;
  readonly requestId: string | null;
  /** Unix ms; null if nothing is said. */
  readonly retryAt: number | null;
}

export function shownOf({ message, code, requestId, retryAfterS }: Fault): Shown {
  const retryAt = retryAfterS === null ? null : SYSTEM_CLOCK.now() + retryAfterS * 1_000;
  return { message, code, requestId, retryAt };
}
