/**
 * The file of a form that is sent on while it arrives. Its length must be known, so that a local
 * server gets a form that says it: the file must be the last part of a body of known length. Its
 * sender must be fast, so that it does not hold a card. If any of this turns out wrong, the
 * provider is told to stop, and the call is sent again once the upload is on the disk.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { SpooledFile } from './spool.js';

/** A slower sender is waited for: the largest file arrives within seven seconds. */
const MIN_BYTES_PER_S = 4 * 1024 * 1024;
/** How long a sender may be behind this speed. */
const GRACE_MS = 1_000;
/** Bytes before the file in which its beginning is looked for. */
const MAX_HEAD_BYTES = 64 * 1024;

/** The upload does not arrive as it was announced to the provider. */
export class UploadLate extends Error {}

/** Finds out how long the file of a form will be. */
export class FormLength {
  readonly #bytes: number;
  readonly #delimiter: string;
  #head = Buffer.alloc(0);
  #parts = 0;

  constructor(headers: IncomingHttpHeaders) {
    const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
    this.#bytes = isPlain ? Number(headers['content-length'] ?? 0) : 0;
    const [, quoted, plain] = BOUNDARY.exec(headers['content-type'] ?? '') ?? [];
    this.#delimiter = `--${quoted ?? plain ?? ''}`;
  }

  /** The next bytes of the body. */
  received(piece: Buffer): void {
    if (this.#bytes === 0 || this.#head.length >= MAX_HEAD_BYTES) return;
    this.#head = Buffer.concat([this.#head, piece.subarray(0, MAX_HEAD_BYTES)]);
  }

  /** A field, or a file before this one, has been read. */
  passed(): void {
    this.#parts += 1;
  }

  /** The bytes of the file that begins now, if it is the last part; null if that is unknown. */
  ofFile(): number | null {
    let at = -1;
    for (let part = 0; part <= this.#parts; part++) {
      at = this.#head.indexOf(this.#delimiter, at + 1);
      if (at === -1) return null;
    }
    const end = this.#head.indexOf(HEAD_END, at);
    if (end === -1) return null;
    const bytes = this.#bytes - end - HEAD_END.length - `\r\n${this.#delimiter}--\r\n`.length;
    return bytes > 0 ? bytes : null;
  }
}

const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i;
const HEAD_END = '\r\n\r\n';

/** Resolves once the file's sender is fast enough, and never if it is not. */
export async function whenFast(file: SpooledFile): Promise<void> {
  const since = performance.now();
  while (!file.hasEnded) {
    // By a whole piece of the spool, which is enough to tell a sender's speed.
    await file.grown(Infinity);
    if (file.hasEnded) continue;
    if (file.bytes >= ((performance.now() - since) / 1_000) * MIN_BYTES_PER_S) return;
  }
  await new Promise<never>(() => {});
}

interface Announced {
  readonly bytes: number;
  /** Resolves when the form is complete, without an error. */
  readonly whole: Promise<unknown>;
}

/** The pieces of the file as it arrives. Throws `UploadLate`. */
export async function* readEarly(
  file: SpooledFile,
  { bytes, whole }: Announced,
): AsyncGenerator<Uint8Array> {
  const since = performance.now();
  const leftMs = (at: number): number =>
    GRACE_MS + (at / MIN_BYTES_PER_S) * 1_000 - (performance.now() - since);
  let at = 0;
  // Held until the form is complete: no provider computes for one that is refused.
  let last: Uint8Array | null = null;
  try {
    for await (const piece of file.read(leftMs)) {
      if (last !== null) yield last;
      last = piece;
      at += piece.length;
    }
    await within(whole, leftMs(at));
  } catch (cause) {
    throw new UploadLate('the upload came too slowly, or broke off', { cause });
  }
  if (at !== bytes) throw new UploadLate(`${bytes} bytes were announced, and ${at} came`);
  if (last !== null) yield last;
}

/** Throws after this time. */
async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the form does not end')), Math.max(0, ms));
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
