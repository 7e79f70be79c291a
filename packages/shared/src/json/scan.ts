/**
 * Counts the values of a JSON text while its bytes arrive, before it is parsed: time and memory of
 * `JSON.parse` depend on the number of values and names, of which 32 MiB may contain millions. It
 * does not check the grammar, which is left to the parser; valid JSON is counted exactly.
 */
/** Limits of a text, on numbers of values and not on bytes. */
export interface JsonLimits {
  /** Names per object. */
  readonly maxObjectKeys: number;
  /**
   * Objects, arrays, strings, true, false and null; and numbers with a name, which costs as much as
   * a string.
   */
  readonly maxValues: number;
  /** Token ids and embeddings are long and legitimate. */
  readonly maxNumbers: number;
  /** Nesting of objects and arrays. */
  readonly maxDepth: number;
}

export const MAX_OBJECT_KEYS = 10_000;
export const MAX_VALUES = 300_000;
export const MAX_NUMBERS = 2_000_000;
export const MAX_DEPTH = 64;

/** Limits of requests. */
export const BODY_LIMITS: JsonLimits = {
  maxObjectKeys: MAX_OBJECT_KEYS,
  maxValues: MAX_VALUES,
  maxNumbers: MAX_NUMBERS,
  maxDepth: MAX_DEPTH,
};

/** Up to both, a body is parsed on the event loop: some ms (`npm run bench -- bodies`). */
export const MAX_SMALL_BYTES = 256 * 1024;
export const MAX_SMALL_VALUES = 5_000;

/**
 * Limits of local servers' answers: as many log probabilities and embeddings as 32 MiB contain.
 * Deeper nesting could not be serialized again.
 */
export const ANSWER_LIMITS: JsonLimits = {
  maxObjectKeys: 100_000,
  maxValues: 3_000_000,
  maxNumbers: 8_000_000,
  maxDepth: 128,
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What a byte outside of strings is part of. */
const OTHER = 0;
const NUMBER = 1;
const WORD = 2;
const KIND = new Uint8Array(256);
for (const character of '-+.0123456789') KIND[character.charCodeAt(0)] = NUMBER;
for (let code = 0x41; code <= 0x5a; code++) KIND[code] = WORD;
for (let code = 0x61; code <= 0x7a; code++) KIND[code] = WORD;

/** Bytes of a string that are read one by one before its end is searched for. */
const SHORT_BYTES = 32;

export class JsonScan {
  readonly #limits: JsonLimits;
  /** The number of names so far of each open object; nothing for arrays. */
  readonly #keys: number[] = [];
  #values = 0;
  #numbers = 0;
  #isInText = false;
  /** After a name, before its value. */
  #isNamed = false;
  #isEscaped = false;
  /** What the previous byte was part of: a number or word may continue in the next piece. */
  #last = OTHER;

  constructor(limits: JsonLimits = BODY_LIMITS) {
    this.#limits = limits;
  }

  /** Values and numbers so far. */
  get count(): number {
    return this.#values + this.#numbers;
  }

  /** Scans the next piece; returns the exceeded limit as a sentence, or null. */
  add(piece: Uint8Array): string | null {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let at = 0;
    while (at < bytes.length) {
      if (this.#isInText) at = this.#skipText(bytes, at);
      else {
        at = this.#readStructure(bytes, at);
        const passed = this.#passed();
        if (passed !== null) return passed;
      }
    }
    return null;
  }

  /** After the last piece: the same for the whole text. */
  end(): string | null {
    return this.#values > this.#limits.maxValues ? this.#tooManyValues() : this.#passed();
  }

  /** Scans to the end of the string, or of the bytes. Returns the next position. */
  #skipText(bytes: Buffer, from: number): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    let looked = 0;
    // Found once and kept: a long string has millions of `\n` before its only quote.
    let quote = -1;
    while (at < bytes.length) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.#isInText = false;
        return at + 1;
      }
      if (byte === BACKSLASH) {
        at += 2;
        looked = 0;
      } else if (looked++ < SHORT_BYTES) at += 1;
      else {
        if (quote < at) quote = positionOf(QUOTE, bytes, at);
        const backslash = bytes.subarray(at, quote).indexOf(BACKSLASH);
        at = backslash === -1 ? quote : at + backslash;
        looked = 0;
      }
    }
    this.#isEscaped = at > bytes.length;
    return bytes.length;
  }

  /** Scans to the beginning of a string, the end of the bytes, or an exceeded limit. */
  #readStructure(bytes: Buffer, from: number): number {
    let last = this.#last;
    let numbers = 0;
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      const kind = KIND[byte] ?? OTHER;
      // `e` of an exponent continues its number.
      if (kind !== OTHER && last !== OTHER) continue;
      if (kind !== OTHER) {
        if (kind === NUMBER) numbers += 1;
        if (kind !== NUMBER || this.#isNamed) this.#values += 1;
        this.#isNamed = false;
        last = kind;
        continue;
      }
      last = OTHER;
      if (byte <= 0x2c && byte !== QUOTE) continue;
      if (byte === QUOTE) {
        this.#values += 1;
        this.#isInText = true;
        this.#isNamed = false;
        at += 1;
        break;
      }
      if (this.#step(byte)) {
        at += 1;
        break;
      }
    }
    this.#last = last;
    this.#numbers += numbers;
    return at;
  }

  /** A structural byte; true if a limit may be exceeded. */
  #step(byte: number): boolean {
    const keys = this.#keys;
    switch (byte) {
      case COLON: {
        // The string before it was a name, which was counted as a value.
        this.#values -= 1;
        this.#isNamed = true;
        const names = (keys.at(-1) ?? 0) + 1;
        keys[Math.max(0, keys.length - 1)] = names;
        return names > this.#limits.maxObjectKeys;
      }
      case OPEN_LIST:
      case OPEN_OBJECT:
        this.#values += 1;
        this.#isNamed = false;
        keys.push(0);
        return keys.length > this.#limits.maxDepth || this.#values > this.#limits.maxValues;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        this.#isNamed = false;
        keys.pop();
        return false;
      default:
        return false;
    }
  }

  #passed(): string | null {
    const { maxDepth, maxNumbers, maxObjectKeys, maxValues } = this.#limits;
    if (this.#keys.length > maxDepth) return `it is nested deeper than ${maxDepth} levels`;
    // One more may be a name whose colon has not arrived yet.
    if (this.#values > maxValues + 1) return this.#tooManyValues();
    if (this.#numbers > maxNumbers) return `it holds more than ${maxNumbers} numbers`;
    const names = this.#keys.at(-1) ?? 0;
    return names > maxObjectKeys ? `one of its objects has more than ${maxObjectKeys} names` : null;
  }

  #tooManyValues(): string {
    return `it holds more than ${this.#limits.maxValues} values that are not numbers`;
  }
}

/** Position of the next such byte, or of the end. */
function positionOf(byte: number, bytes: Buffer, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

/** The limit that a whole text exceeds, or null. */
export function jsonFault(bytes: Uint8Array, limits: JsonLimits = BODY_LIMITS): string | null {
  const scan = new JsonScan(limits);
  return scan.add(bytes) ?? scan.end();
}
