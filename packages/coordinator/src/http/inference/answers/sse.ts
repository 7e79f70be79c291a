/**
 * Cuts an agent's bytes into whole server-sent events and checks each: one `data: {…}` line and a
 * blank line. Half an event is held back, so that an error event never lands in the middle of a
 * line.
 */

import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';

const MAX_EVENT_BYTES = 1024 * 1024;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const EVENT_START = Buffer.from('data: {');

export class EventSplitter {
  readonly #held = new GatheredBytes();

  /** The whole events that these bytes complete (perhaps none), or what is wrong with them. */
  push(bytes: Uint8Array): { readonly events: Buffer } | { readonly problem: string } {
    // What was held ends no event; only its last byte may be the first half of a blank line.
    const searchFrom = Math.max(0, this.#held.length - 1);
    this.#held.append(bytes);
    const all = this.#held.bytes;
    const end = endOfLastEvent(all, searchFrom);
    const events = all.subarray(0, end);
    const problem = checkEvents(events);
    if (problem !== null) return { problem };
    if (all.length - end > MAX_EVENT_BYTES) return { problem: 'an event is longer than 1 MiB' };
    if (end > 0) this.#keep(all.subarray(end));
    return { events };
  }

  /** Whether the bytes so far end in the middle of an event. */
  get isHalfway(): boolean {
    return this.#held.length > 0;
  }

  #keep(rest: Buffer): void {
    this.#held.clear();
    if (rest.length > 0) this.#held.append(rest);
  }
}

function endOfLastEvent(bytes: Buffer, searchFrom: number): number {
  const last = bytes.subarray(searchFrom).lastIndexOf('\n\n');
  return last === -1 ? 0 : searchFrom + last + 2;
}

function checkEvents(events: Buffer): string | null {
  if (events.includes(CARRIAGE_RETURN)) return 'a carriage return in an event';
  for (let start = 0; start < events.length;) {
    const startEnd = Math.min(start + EVENT_START.length, events.length);
    if (EVENT_START.compare(events, start, startEnd) !== 0) {
      return 'an event that is no data line with a JSON object';
    }
    const end = events.indexOf(NEWLINE, start);
    if (events[end + 1] !== NEWLINE) return 'an event of more than one line';
    start = end + 2;
  }
  return null;
}
