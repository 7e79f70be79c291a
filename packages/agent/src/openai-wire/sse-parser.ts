/**
 * Parses server-sent events of model servers from arbitrary byte pieces. Only `data:` counts; old
 * llama.cpp versions report failures as `error: {…}` lines, which are separate events here.
 */
import { LocalFailure } from '../backends/backend.js';

export interface SseEvent {
  readonly kind: 'data' | 'error';
  readonly data: string;
}

/** The longest line, and the longest event, in characters. */
const MAX_EVENT_CHARACTERS = 1024 * 1024;

export class SseParser {
  readonly #decoder = new TextDecoder();
  /** The text after the last line break. */
  #rest = '';
  /** The lines of the unfinished event. */
  #data: string | null = null;
  #events: SseEvent[] = [];

  /**
   * The events that these bytes complete. Throws a `LocalFailure` for a line that exceeds the
   * limit.
   */
  push(bytes: Uint8Array): SseEvent[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The event that the end of the stream completes: some servers omit the last blank line. */
  end(): SseEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): SseEvent[] {
    const all = this.#rest + text;
    let start = 0;
    // The rest from the last call contains no line break, so the search begins after it.
    let lineEnd = all.indexOf('\n', this.#rest.length);
    while (lineEnd !== -1) {
      const isCrLf = all.charCodeAt(lineEnd - 1) === CARRIAGE_RETURN && lineEnd > start;
      this.#line(all.slice(start, isCrLf ? lineEnd - 1 : lineEnd));
      start = lineEnd + 1;
      lineEnd = all.indexOf('\n', start);
    }
    this.#rest = start === 0 ? all : all.slice(start);
    checkLength(this.#rest);
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #line(line: string): void {
    if (line === '') this.#dispatch();
    else if (line.startsWith('data:')) this.#append(fieldValue(line, 5));
    else if (line.startsWith('error:')) {
      this.#events.push({ kind: 'error', data: fieldValue(line, 6) });
    }
  }

  #append(value: string): void {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    checkLength(this.#data);
  }

  #dispatch(): void {
    if (this.#data !== null && this.#data !== '') {
      this.#events.push({ kind: 'data', data: this.#data });
    }
    this.#data = null;
  }
}

const CARRIAGE_RETURN = 13;

/** One space after the colon is not part of the value. */
function fieldValue(line: string, start: number): string {
  return line.slice(line.charAt(start) === ' ' ? start + 1 : start);
}

function checkLength(text: string): void {
  if (text.length <= MAX_EVENT_CHARACTERS) return;
  throw new LocalFailure(
    'LOCAL_ERROR',
    `the local server sent an event of more than ${MAX_EVENT_CHARACTERS} characters.`,
  );
}
