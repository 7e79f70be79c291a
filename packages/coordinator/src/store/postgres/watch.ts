/**
 * What a coordinator asks its database all the time, whether or not it has calls: whether others
 * have changed something, and what time it is there.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { withoutPassword } from '../database-url.js';
import { EPOCHS } from './carry-out.js';
import type { Epochs, ReadEpochs } from './carry-out.js';
import { Pool } from './connection.js';

/**
 * From the begin of one look to the next. With it and the limits below, a look that gets no answer
 * and the one after it, on a new connection, take less than `UNCONFIRMED_MS` together.
 */
export const LOOK_INTERVAL_MS = 500;
const ANSWER_MS = 1_000;
const CONNECT_MS = 1_000;
/** One for the look, and one for the facts that it finds changed. */
const MAX_CONNECTIONS = 2;

/** Clocks that differ by more are told of: leases are compared between machines. */
export const TOLD_SKEW_MS = 1_000;
/** With a larger difference no coordinator starts, and one that runs takes nothing new. */
export const MAX_SKEW_MS = 10_000;

export interface Seen {
  readonly epochs: ReadEpochs;
  /**
   * By how much the server's clock is ahead of this machine's at least: the way there and back may
   * explain the rest. Negative: behind.
   */
  readonly clockLeadMs: number;
}

const LOOK = `select ${EPOCHS}, extract(epoch from clock_timestamp()) * 1000 as at`;

/** Not of the pool: a look must not wait for operations. */
export class Watch {
  readonly pool: Pool;
  readonly #now: () => number;

  constructor(url: string, now: () => number) {
    this.pool = new Pool(url, { max: MAX_CONNECTIONS, connectMs: CONNECT_MS });
    this.#now = now;
  }

  look(): Promise<Seen> {
    return this.pool.use(async (connection) => {
      const [readAt, askedAt] = [performance.now(), this.#now()];
      const query = { text: LOOK, name: 'look', answerMs: ANSWER_MS };
      const { rows } = await connection.query<Epochs & { readonly at: number }>(query);
      const tripMs = performance.now() - readAt;
      const [row] = rows;
      if (row === undefined) throw new Error('the table of epochs is empty');
      const { keys, sharing, at } = row;
      return { epochs: { keys, sharing, readAt }, clockLeadMs: leadOf(at - askedAt, tripMs) };
    });
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

/** The server has read its clock at any time of the trip. */
export function leadOf(sinceAskedMs: number, tripMs: number): number {
  const leadMs = Math.max(0, sinceAskedMs - tripMs) + Math.min(0, sinceAskedMs);
  return Math.round(leadMs);
}

/** Null for clocks that hardly differ. */
export function clockWarning(clockLeadMs: number): string | null {
  if (Math.abs(clockLeadMs) <= TOLD_SKEW_MS) return null;
  const isTooMuch = Math.abs(clockLeadMs) > MAX_SKEW_MS;
  const what = isTooMuch ? 'nothing new is taken until then' : 'leases and limits compare them';
  const skew = skewText(clockLeadMs);
  return `The clock of the database's server is ${skew} this machine's: set both, ${what}.`;
}

/** `3.2 s ahead of`, between the server's clock and this machine's. */
function skewText(clockLeadMs: number): string {
  const seconds = Math.round(Math.abs(clockLeadMs) / 100) / 10;
  return `${seconds} s ${clockLeadMs > 0 ? 'ahead of' : 'behind'}`;
}

/** Throws a `CommandError`: with such a clock a coordinator would end the leases of others. */
export function requireClock(url: string, clockLeadMs: number): void {
  if (Math.abs(clockLeadMs) <= MAX_SKEW_MS) return;
  const message =
    `the clock of ${withoutPassword(url)} is ${skewText(clockLeadMs)} this machine's, and at ` +
    `most ${MAX_SKEW_MS / 1_000} s are possible. Set both with: sudo timedatectl set-ntp true`;
  throw new CommandError(EXIT.usage, message);
}
