/** A JSON answer that is held in memory until it is complete. */
import type { ApiError } from '@inference-gateway/shared/errors';
import { GatheredPieces } from '@inference-gateway/shared/json/gathered-bytes';
import { Budget } from './budget.js';
import type { Share } from './budget.js';

export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * One memory budget for the JSON bodies and answers that are held at once, of calls and jobs. A
 * member may hold half of it, and always at least the largest body together with its largest
 * answer.
 */
export function bodyBudget(limits: {
  readonly maxJsonBytes: number;
  readonly maxBodyMemoryBytes: number;
}): Budget {
  const { maxJsonBytes, maxBodyMemoryBytes: totalBytes } = limits;
  const memberBytes = Math.max(totalBytes / 2, maxJsonBytes + MAX_ANSWER_BYTES);
  return new Budget({ totalBytes, memberBytes });
}

export class HeldDocument {
  readonly #body = new GatheredPieces();
  #grammar = new JsonGrammar();
  readonly #share: Share;

  /** `share` is its part of the memory budget for answers. */
  constructor(share: Share) {
    this.#share = share;
  }

  get bytes(): Buffer {
    return this.#body.bytes;
  }

  get length(): number {
    return this.#body.length;
  }

  /** The same bytes, not copied into one block. */
  get pieces(): readonly Buffer[] {
    return this.#body.pieces;
  }

  /** Why the bytes so far are not one JSON object; null if they are. */
  get fault(): string | null {
    return this.#grammar.fault;
  }

  /** What is wrong with the answer, or that the budget is exhausted; null if nothing is wrong. */
  append(bytes: Uint8Array): string | ApiError | null {
    this.#body.append(bytes);
    this.#grammar.add(bytes);
    if (this.#body.length > MAX_ANSWER_BYTES) return 'it is longer than 32 MiB';
    return this.#share.tryAdd(bytes.length);
  }

  /** Frees its memory. */
  clear(): void {
    this.#body.clear();
    this.#grammar = new JsonGrammar();
    this.#share.release();
  }
}

/** Maximum nesting of objects and lists: an answer nests about ten levels deep. */
const MAX_ANSWER_DEPTH = 128;

const TOO_DEEP = `it is nested deeper than ${MAX_ANSWER_DEPTH} levels`;

/** What may come next. */
const VALUE = 0;

const VALUE_OR_END = 1;

const NAME_OR_END = 2;

const NAME = 3;

const COLON = 4;

const AFTER = 5;

const TEXT = 6;

const ESCAPED = 7;

const HEX = 8;

const WORD = 9;

/** The states inside a number, named after its last character so far. */
const MINUS = 10;

const ZERO = 11;

const WHOLE = 12;

const POINT = 13;

const FRACTION = 14;

const EXPONENT = 15;

const SIGN = 16;

const POWER = 17;

const DONE = 18;

const BROKEN = 19;

/** Bytes that are allowed unescaped in a string. */
const PLAIN = new Uint8Array(256).fill(1);

PLAIN.fill(0, 0, 0x20);

PLAIN[0x22] = 0;

PLAIN[0x5c] = 0;

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

const COMMA = 0x2c;

const OPEN_LIST = 0x5b;

const CLOSE_LIST = 0x5d;

const OPEN_OBJECT = 0x7b;

const CLOSE_OBJECT = 0x7d;

const COLON_SIGN = 0x3a;

/** Compares bytes only: creating a string for each byte would cost more than all the rest. */
const BLANK = new Uint8Array(256);

for (const blank of ' \t\n\r') BLANK[blank.charCodeAt(0)] = 1;

const ESCAPES = new Uint8Array(256);

for (const escape of '"\\/bfnrt') ESCAPES[escape.charCodeAt(0)] = 1;

/** The rest of each word, after its first letter. */
const WORDS: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word).subarray(1)]),
);

/**
 * Checks whether bytes are one JSON object, while they arrive and without building a tree: an
 * agent's answer may have 32 MiB, and `JSON.parse` would block the event loop for a second.
 */
export class JsonGrammar {
  /** The innermost is last; true: an object. */
  readonly #open: boolean[] = [];
  #state = VALUE;
  #isName = false;
  #isTooDeep = false;
  #hexLeft = 0;
  /** The expected rest of `true`, `false` or `null`, and how much of it has come. */
  #word: Uint8Array = new Uint8Array();
  #wordAt = 0;

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.#state !== BROKEN; at++) {
      if (this.#state === TEXT) {
        while (at < bytes.length && PLAIN[bytes[at] ?? 0] === 1) at += 1;
        if (at === bytes.length) return;
      } else if (this.#isAtItem) {
        at = passNumbers(bytes, at);
        if (at === bytes.length) return;
      }
      this.#state = this.#next(bytes[at] ?? 0);
    }
  }

  /** At an item of a list, after a comma. */
  get #isAtItem(): boolean {
    return this.#state === VALUE && this.#open.at(-1) === false;
  }

  /** Why the bytes so far are not one complete object; null if they are. */
  get fault(): string | null {
    if (this.#state === DONE) return null;
    return this.#isTooDeep ? TOO_DEEP : 'it is no JSON object';
  }

  #next(byte: number): number {
    switch (this.#state) {
      case TEXT:
        if (byte === BACKSLASH) return ESCAPED;
        if (byte !== QUOTE) return BROKEN;
        return this.#isName ? COLON : AFTER;
      case ESCAPED:
        if (byte === 0x75) this.#hexLeft = 4;
        if (byte === 0x75) return HEX;
        return ESCAPES[byte] === 1 ? TEXT : BROKEN;
      case HEX:
        if (!isHex(byte)) return BROKEN;
        this.#hexLeft -= 1;
        return this.#hexLeft === 0 ? TEXT : HEX;
      case WORD:
        if (this.#word[this.#wordAt] !== byte) return BROKEN;
        this.#wordAt += 1;
        return this.#wordAt === this.#word.length ? AFTER : WORD;
      case MINUS:
      case ZERO:
      case WHOLE:
      case POINT:
      case FRACTION:
      case EXPONENT:
      case SIGN:
      case POWER:
        return this.#inNumber(byte);
      default:
        return this.#between(byte);
    }
  }

  #inNumber(byte: number): number {
    const state = this.#state;
    if (isDigit(byte)) {
      if (state === MINUS) return byte === 0x30 ? ZERO : WHOLE;
      if (state === ZERO) return BROKEN;
      if (state === WHOLE) return WHOLE;
      return state === POINT || state === FRACTION ? FRACTION : POWER;
    }
    const isWhole = state === ZERO || state === WHOLE;
    if (byte === 0x2e && isWhole) return POINT;
    const isSigned = byte === 0x2b || byte === 0x2d;
    if (isSigned && state === EXPONENT) return SIGN;
    if ((byte === 0x65 || byte === 0x45) && (isWhole || state === FRACTION)) return EXPONENT;
    if (!isWhole && state !== FRACTION && state !== POWER) return BROKEN;
    this.#state = AFTER;
    return this.#between(byte);
  }

  /** Outside of strings, words and numbers. */
  #between(byte: number): number {
    const state = this.#state;
    if (BLANK[byte] === 1) return state;
    switch (state) {
      case VALUE:
        return this.#value(byte);
      case VALUE_OR_END:
        return byte === CLOSE_LIST ? this.#close(false) : this.#value(byte);
      case NAME_OR_END:
        if (byte === CLOSE_OBJECT) return this.#close(true);
        return byte === QUOTE ? this.#text(true) : BROKEN;
      case NAME:
        return byte === QUOTE ? this.#text(true) : BROKEN;
      case COLON:
        return byte === COLON_SIGN ? VALUE : BROKEN;
      case AFTER:
        if (byte === COMMA) return this.#open.at(-1) === true ? NAME : VALUE;
        if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) return this.#close(byte === CLOSE_OBJECT);
        return BROKEN;
      default:
        return BROKEN;
    }
  }

  #value(byte: number): number {
    // The outermost value must be an object.
    if (this.#open.length === 0 && byte !== OPEN_OBJECT) return BROKEN;
    if (byte === QUOTE) return this.#text(false);
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (this.#open.length === MAX_ANSWER_DEPTH) {
        this.#isTooDeep = true;
        return BROKEN;
      }
      this.#open.push(byte === OPEN_OBJECT);
      return byte === OPEN_OBJECT ? NAME_OR_END : VALUE_OR_END;
    }
    if (byte === 0x2d) return MINUS;
    if (byte === 0x30) return ZERO;
    if (byte > 0x30 && byte <= 0x39) return WHOLE;
    const word = WORDS.get(byte);
    if (word === undefined) return BROKEN;
    this.#word = word;
    this.#wordAt = 0;
    return WORD;
  }

  #text(isName: boolean): number {
    this.#isName = isName;
    return TEXT;
  }

  #close(isObject: boolean): number {
    if (this.#open.pop() !== isObject) return BROKEN;
    return this.#open.length === 0 ? DONE : AFTER;
  }
}

function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}

/** Left to the grammar's states, so that nothing here reads past the end. */
const MARGIN_BYTES = 8;

/**
 * Returns the position after the last whole `number,` and the blanks behind it. Vectors are
 * millions of numbers, and this takes a third of the time of a state for each byte.
 */
function passNumbers(bytes: Uint8Array, from: number): number {
  const fours = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - MARGIN_BYTES;
  let start = from;
  while (start < end) {
    const after = afterNumber(bytes, start, fours);
    if (after === start) {
      if (BLANK[bytes[start] ?? 0] === 0) return start;
      start += 1;
    } else {
      if (after >= end || bytes[after] !== COMMA) return start;
      start = after + 1;
    }
  }
  return start;
}

/** The position after the number that begins at `from`; `from` if none does. */
function afterNumber(bytes: Uint8Array, from: number, fours: DataView): number {
  const end = bytes.length - MARGIN_BYTES;
  const whole = bytes[from] === 0x2d ? from + 1 : from;
  let at = bytes[whole] === 0x30 ? whole + 1 : afterDigits(fours, whole, end);
  if (at === whole) return from;
  if (bytes[at] === 0x2e) {
    const fraction = at + 1;
    at = afterDigits(fours, fraction, end);
    if (at === fraction) return from;
  }
  const next = bytes[at] ?? 0;
  if (next === COMMA || (next | 0x20) !== 0x65) return at;
  const sign = bytes[at + 1];
  const power = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
  at = afterDigits(fours, power, end);
  return at === power ? from : at;
}

/** The position after the digits from `from` on, at most three beyond the end. */
function afterDigits(fours: DataView, from: number, end: number): number {
  for (let at = from; ; at += 4) {
    if (at >= end) return at;
    const others = notDigits(fours.getInt32(at));
    if (others !== 0) return at + (Math.clz32(others) >> 3);
  }
}

/**
 * Of four bytes at once: 0 in the upper half of each that is a digit, before the first that is
 * none. A digit less 0x30 is at most 9, also in the upper half if 6 is added.
 */
function notDigits(four: number): number {
  const less = four ^ 0x30303030;
  return (less | (less + 0x06060606)) & 0xf0f0f0f0;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
