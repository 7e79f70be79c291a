/**
 * Memory or disk that requests occupy for a while, within one limit for all callers and one for
 * each member, so that one member's slow uploads do not block all others.
 */
import { ApiError } from '@inference-gateway/shared/errors';

interface BudgetLimits {
  readonly totalBytes: number;
  readonly memberBytes: number;
}

/** What one request occupies so far. */
export interface Share {
  /** Reserves more; returns a `capacity_exhausted` if that exceeds a limit. */
  tryAdd(bytes: number): ApiError | null;
  /** The same, but throws the error. */
  add(bytes: number): void;
  /** Frees everything. */
  release(): void;
}

export class Budget {
  readonly #limits: BudgetLimits;
  readonly #heldByMember = new Map<string, number>();
  #heldBytes = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** Below 0 if more was reserved than the limit. */
  get freeBytes(): number {
    return this.#limits.totalBytes - this.#heldBytes;
  }

  open(memberId: string): Share {
    let shareBytes = 0;
    const tryAdd = (bytes: number): ApiError | null => {
      shareBytes += bytes;
      this.#change(memberId, bytes);
      return this.#check(memberId);
    };
    return {
      tryAdd,
      add: (bytes) => {
        const spent = tryAdd(bytes);
        if (spent !== null) throw spent;
      },
      release: () => {
        this.#change(memberId, -shareBytes);
        shareBytes = 0;
      },
    };
  }

  #change(memberId: string, bytes: number): void {
    this.#heldBytes += bytes;
    const held = (this.#heldByMember.get(memberId) ?? 0) + bytes;
    if (held > 0) this.#heldByMember.set(memberId, held);
    else this.#heldByMember.delete(memberId);
  }

  #check(memberId: string): ApiError | null {
    const { totalBytes, memberBytes } = this.#limits;
    if (this.#heldBytes > totalBytes) {
      const message = 'The gateway holds too many large requests. Try again.';
      return new ApiError('capacity_exhausted', message);
    }
    if ((this.#heldByMember.get(memberId) ?? 0) <= memberBytes) return null;
    const message = 'Your requests under way hold too many bytes. Send fewer at once.';
    return new ApiError('capacity_exhausted', message);
  }
}
