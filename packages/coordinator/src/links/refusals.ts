/**
 * Whose links are not wanted any more, and since when. A token is looked up before the upgrade, and
 * its HELLO comes up to 10 s later: what was true of it then need not be true by now.
 */
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type { AgentSession } from './agent-link.js';

export type RefusalReason = 'disabled' | 'revoked';

interface Refusal {
  readonly why: RefusalReason;
  readonly at: number;
}

export class Refusals {
  /** Goes on by one with each: the time, as far as it matters here. */
  now = 0;
  /** The last one of each provider: at most one for every provider that there has been. */
  readonly #last = new Map<string, Refusal>();

  note(providerId: string, why: RefusalReason): void {
    this.now += 1;
    this.#last.set(providerId, { why, at: this.now });
  }

  /** Why a link is refused whose token was good at that time; null where it still is. */
  since(providerId: string, time: number): RefusalReason | null {
    const last = this.#last.get(providerId);
    return last !== undefined && last.at > time ? last.why : null;
  }
}

export function refuseLink(session: AgentSession, why: RefusalReason): 'gone' {
  session.close(CLOSES[why].code, CLOSES[why].reason);
  return 'gone';
}

const CLOSES = {
  disabled: { code: CLOSE.disabled, reason: 'the owner of this provider is disabled' },
  revoked: { code: CLOSE.tokenRevoked, reason: 'the token of this agent is not valid any more' },
} as const;
