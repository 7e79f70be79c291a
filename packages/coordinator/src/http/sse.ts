/**
 * Cuts an agent's bytes into whole server-sent events and checks each: one `data: {…}` line and a
 * blank line. Half an event is held back, so that an error event never lands in the middle of a
 * line.
 */

const MAX_EVENT_BYTES = 1024 * 1024;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const EVENT_START = Buffer.from('data: {');

export class EventSplitter {
  #held: Buffer[] = [];
  #heldBytes = 0;

  /** The whole events that these bytes complete (perhaps none), or what is wrong with them. */
  push(bytes: Uint8Array): { readonly events: Buffer } | { readonly problem: string } {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const all = this.#heldBytes === 0 ? chunk : Buffer.concat([...this.#held, chunk]);
    const end = endOfLastEvent(all);
    const problem = checkEvents(all.subarray(0, end));
    if (problem !== null) return { problem };
    const rest = all.subarray(end);
    if (rest.length > MAX_EVENT_BYTES) return { problem: 'an event is longer than 1 MiB' };
    this.#held = rest.length > 0 ? [rest] : [];
    this.#heldBytes = rest.length;
    return { events: all.subarray(0, end) };
  }

  /** Whether the bytes so far end in the middle of an event. */
  get isHalfway(): boolean {
    return this.#heldBytes > 0;
  }
}

function endOfLastEvent(bytes: Buffer): number {
  const last = bytes.lastIndexOf('\n\n');
  return last === -1 ? 0 : last + 2;
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
