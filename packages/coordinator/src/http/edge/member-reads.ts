/**
 * Limits parallel reads per member. Reads are not rate-limited, and use one database thread: a
 * member who requests hundreds of lists at once must not delay all others.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { callerOf } from './context.js';
import type { Context, Middleware } from './context.js';

/** Parallel reads of a member; a list of 10,000 jobs takes up to 50 ms. */
const MAX_AT_ONCE = 4;
/** Waiting reads of a member; a page of the dashboard makes about ten requests. */
const MAX_WAITING = 500;

/** Reads that cost more than finding one row: lists, counts, and batches with their jobs. */
const LISTS = /^\/(v1\/(jobs|files|batches(\/[^/]+)?)|api\/inference\/(assets|queue\/summary))$/;

interface Gate {
  inside: number;
  readonly line: (() => void)[];
}

export class MemberReads {
  /** By member; members without reads are missing. */
  readonly #gates = new Map<string, Gate>();

  readonly middleware: Middleware = (ctx, next) =>
    isList(ctx) ? this.take(callerOf(ctx).memberId, next) : next();

  /** Throws `rate_limit_exceeded` if too many reads of the member wait already. */
  async take<T>(memberId: string, read: () => Promise<T>): Promise<T> {
    const gate = this.#gates.get(memberId) ?? { inside: 0, line: [] };
    this.#gates.set(memberId, gate);
    if (gate.inside < MAX_AT_ONCE) gate.inside += 1;
    else await queue(gate);
    try {
      return await read();
    } finally {
      this.#leave(memberId, gate);
    }
  }

  /** The next waiting read takes the place of the one that ends, so that none can overtake it. */
  #leave(memberId: string, gate: Gate): void {
    const next = gate.line.shift();
    if (next !== undefined) return next();
    gate.inside -= 1;
    if (gate.inside === 0) this.#gates.delete(memberId);
  }
}

function isList({ method, path }: Context): boolean {
  return (method === 'GET' || method === 'HEAD') && LISTS.test(path);
}

function queue({ line }: Gate): Promise<void> {
  if (line.length < MAX_WAITING) return new Promise((enter) => line.push(enter));
  const message = `${line.length} of your reads wait already. Send fewer at once.`;
  throw new ApiError('rate_limit_exceeded', message, { retryAfterS: 1 });
}
