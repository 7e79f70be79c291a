/**
 * JSON that contains files in base64, read while it arrives: the files are decoded at once, so that
 * neither their base64 nor the document is ever held, and only the rest is parsed. Whole, an image
 * of 4 MiB would be copied six times, each time into fresh memory.
 */
import { GatheredBytes, GatheredPieces } from '@inference-gateway/shared/json/gathered-bytes';
import { parseJson } from './json.js';

/** A longer string is a file; no text that is read from such a document is as long. */
const MAX_TEXT_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A file, where its string was; its pieces are in order. */
export class DecodedFile {
  readonly pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
  }
}

export class JsonWithFiles {
  readonly #rest = new GatheredBytes();
  readonly #files: Base64Decoder[] = [];
  #isInString = false;
  #isEscaped = false;
  /** The current string while it may still be a text. */
  #text = new GatheredBytes();
  /** The decoder of the current string. */
  #file: Base64Decoder | null = null;

  add(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < bytes.length;) {
      at = this.#isInString ? this.#addString(bytes, at) : this.#addStructure(bytes, at);
    }
  }

  /**
   * The document, after its last piece; undefined if it is not JSON. `fileOf` returns the file that
   * a value stands for, or null.
   */
  end(): { readonly value: unknown; readonly fileOf: (value: unknown) => DecodedFile | null } {
    // Without the byte order mark that some servers on Windows write.
    const value = parseJson(new TextDecoder().decode(this.#rest.bytes));
    const files = this.#files.map((file) => new DecodedFile(file.end()));
    return { value, fileOf: (one) => files[placeOf(one)] ?? null };
  }

  /** Up to the next string. Returns the next position. */
  #addStructure(bytes: Buffer, from: number): number {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote === -1) {
      this.#rest.append(bytes.subarray(from));
      return bytes.length;
    }
    this.#rest.append(bytes.subarray(from, quote));
    this.#isInString = true;
    return quote + 1;
  }

  /** Up to the end of the string. Returns the next position. */
  #addString(bytes: Buffer, from: number): number {
    const quote = this.#endOfString(bytes, from);
    this.#addText(bytes.subarray(from, quote));
    if (quote === bytes.length) return quote;
    if (this.#file === null) this.#appendText();
    else this.#rest.append(this.#place());
    this.#isInString = false;
    this.#file = null;
    this.#text.clear();
    return quote + 1;
  }

  #appendText(): void {
    for (const part of [MARK, this.#text.bytes, MARK]) this.#rest.append(part);
  }

  /** The position of the quote that ends the string, or of the end of the bytes. */
  #endOfString(bytes: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    let quote = -1;
    for (;;) {
      if (quote < at) quote = bytes.indexOf(QUOTE, at);
      if (quote === -1) quote = bytes.length;
      const backslash = bytes.subarray(at, quote).indexOf(BACKSLASH);
      if (backslash === -1) return quote;
      at += backslash + 2;
      if (at > bytes.length) {
        this.#isEscaped = true;
        return bytes.length;
      }
    }
  }

  #addText(bytes: Buffer): void {
    if (this.#file !== null) return this.#file.add(bytes);
    this.#text.append(bytes);
    if (this.#text.length <= MAX_TEXT_BYTES) return undefined;
    this.#file = new Base64Decoder();
    this.#files.push(this.#file);
    return this.#file.add(this.#text.bytes);
  }

  #place(): Buffer {
    return Buffer.from(JSON.stringify({ [PLACE]: this.#files.length - 1 }));
  }
}

const MARK = Buffer.from([QUOTE]);

/**
 * The only name of the object that stands for a file. A server that writes it itself means one of
 * its own files, or none.
 */
const PLACE = 'file';

/** -1 if the value stands for no file. */
function placeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return -1;
  const place = (value as Record<string, unknown>)[PLACE];
  return typeof place === 'number' ? place : -1;
}

/** Some servers write their base64 as a data: URL. */
export function withoutPrefix(written: string): string {
  return isDataUrl(written) ? written.slice(written.indexOf(',') + 1) : written;
}

export function isDataUrl(text: string): boolean {
  return text.slice(0, 5).toLowerCase() === 'data:';
}

const GROUP_CHARACTERS = 4;
const GROUP_BYTES = 3;

/** The contents of a JSON string as they arrive; ignores what is not base64, like line breaks. */
class Base64Decoder {
  readonly #pieces = new GatheredPieces();
  #isFirst = true;
  /** Characters of a group, or of an escape, that continues in the next piece. */
  #left = '';
  #escape = '';

  add(bytes: Buffer): void {
    const text = this.#unescaped(this.#escape + bytes.toString('latin1'));
    const all = this.#left + (this.#isFirst ? withoutPrefix(text) : text);
    this.#isFirst = false;
    if (!this.#decode(all)) this.#decode(all.replaceAll(/[^A-Za-z0-9+/_-]/g, ''));
  }

  end(): readonly Uint8Array[] {
    if (this.#left !== '') this.#pieces.append(Buffer.from(this.#left, 'base64'));
    return this.#pieces.pieces;
  }

  /** False if the text has other characters between, or at its end. */
  #decode(text: string): boolean {
    const length = text.length - (text.length % GROUP_CHARACTERS);
    const piece = Buffer.from(text.slice(0, length), 'base64');
    if (piece.length !== (length / GROUP_CHARACTERS) * GROUP_BYTES) return false;
    if (piece.length > 0) this.#pieces.append(piece);
    this.#left = text.slice(length);
    return true;
  }

  #unescaped(text: string): string {
    this.#escape = '';
    if (!text.includes('\\')) return text;
    const plain = text.replaceAll(
      /\\(?:u([0-9a-fA-F]{4})|([^u]))/g,
      (_escape, code: string | undefined, character: string | undefined) =>
        code === undefined
          ? character === '/'
            ? '/'
            : ''
          : String.fromCodePoint(Number.parseInt(code, 16)),
    );
    this.#escape = /\\(?:u[0-9a-fA-F]{0,3})?$/.exec(plain)?.[0] ?? '';
    return plain.slice(0, plain.length - this.#escape.length);
  }
}
