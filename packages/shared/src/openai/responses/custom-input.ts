/** The text of a custom tool, read from the arguments of its function while they are written. */
import { CUSTOM_INPUT } from './tools.js';

/** `{"input":"`, with spaces anywhere. */
const BEGINNING = new RegExp(`^\\s*\\{\\s*"${CUSTOM_INPUT}"\\s*:\\s*"`);
/** Characters in which it must have begun. */
const MAX_BEGINNING = 64;

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Arguments that are no such object are the text themselves. */
export class CustomInput {
  /** Undecided: whether it begins as it should. Raw: it does not. */
  #state: 'undecided' | 'text' | 'raw' | 'over' = 'undecided';
  /** What was not decoded yet. */
  #held = '';

  /** Returns the text that follows from these characters. */
  push(written: string): string {
    if (this.#state === 'over') return '';
    this.#held += written;
    if (this.#state === 'undecided') this.#decide();
    return this.#state === 'text' ? this.#decode() : '';
  }

  /** Returns the rest of the text. */
  end(): string {
    if (this.#state === 'text' || this.#state === 'over') return '';
    const held = this.#held;
    this.#held = '';
    return textIn(held) ?? held;
  }

  #decide(): void {
    const begun = BEGINNING.exec(this.#held.slice(0, MAX_BEGINNING))?.[0];
    if (begun !== undefined) {
      this.#state = 'text';
      this.#held = this.#held.slice(begun.length);
    } else if (this.#held.length >= MAX_BEGINNING) this.#state = 'raw';
  }

  /** An escape of which a part is missing is held. */
  #decode(): string {
    const held = this.#held;
    let text = '';
    let from = 0;
    for (;;) {
      const at = nextSpecial(held, from);
      text += held.slice(from, at);
      from = at;
      if (at === held.length) break;
      if (held[at] === '"') {
        this.#state = 'over';
        from = held.length;
        break;
      }
      const length = held[at + 1] === 'u' ? 6 : 2;
      if (at + length > held.length) break;
      text += unescaped(held.slice(at, at + length));
      from = at + length;
    }
    this.#held = held.slice(from);
    return text;
  }
}

/** The next quote or backslash, or the end. */
function nextSpecial(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '"' || text[at] === '\\') return at;
  }
  return text.length;
}

function unescaped(escape: string): string {
  const [, kind = ''] = escape;
  if (kind === 'u') return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  return ESCAPES[kind] ?? kind;
}

/** Of a complete object with further fields, in any order. */
function textIn(written: string): string | null {
  try {
    const value = JSON.parse(written) as unknown;
    const input = typeof value === 'object' && value !== null && CUSTOM_INPUT in value;
    const text = input ? value[CUSTOM_INPUT] : null;
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}
