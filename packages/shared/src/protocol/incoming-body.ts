/**
 * A request's bytes as they arrive from the link: first the JSON body, held whole, then the
 * announced files, one after the other, each passed on piece by piece. The sender gets new credit
 * for consumed bytes, so a file waits there and not in this end's memory.
 */
import { GatheredBytes } from '../json/gathered-bytes.js';
import { JsonScan } from '../json/scan.js';

/** Pieces are joined up to this size; frames of the usual size stay unchanged. */
const SMALL_BYTES = 16 * 1024;

export interface IncomingFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Once; the next file arrives only after this one has been read to its end. */
  read(): AsyncIterable<Uint8Array>;
}

interface Announced {
  readonly bodyBytes: number;
  readonly uploads: readonly Omit<IncomingFile, 'read'>[];
  /** Called with the number of bytes taken out of memory. */
  readonly consumed: (bytes: number) => void;
  /** False: the body is only passed on, and not examined. Default: true. */
  readonly isParsed?: boolean;
}

export class IncomingBody {
  /** Resolves with the JSON body; rejects with the reason if it will not come. */
  readonly body: Promise<Buffer>;
  readonly uploads: readonly IncomingFile[];
  /** The reason not to parse the body; null while there is none. */
  fault: string | null = null;
  readonly #body = new GatheredBytes();
  readonly #scan: JsonScan | null;
  readonly #consumed: (bytes: number) => void;
  readonly #files: readonly FileQueue[];
  #bodyMissing: number;
  #bodyArrived: (body: Buffer) => void = () => {};
  #bodyLost: (reason: unknown) => void = () => {};

  constructor({ bodyBytes, uploads, consumed, isParsed = true }: Announced) {
    this.#scan = isParsed ? new JsonScan() : null;
    this.#bodyMissing = bodyBytes;
    this.#consumed = consumed;
    this.body = new Promise((resolve, reject) => {
      this.#bodyArrived = resolve;
      this.#bodyLost = reject;
    });
    if (bodyBytes === 0) this.#bodyArrived(Buffer.alloc(0));
    const queued = uploads.map((upload) => ({
      upload,
      file: new FileQueue(upload.bytes, consumed),
    }));
    this.#files = queued.map(({ file }) => file);
    this.uploads = queued.map(({ upload, file }) => ({ ...upload, read: () => file }));
  }

  /** The number of JSON values in the body so far. */
  get values(): number {
    return this.#scan?.count ?? 0;
  }

  /** Bytes beyond the announced length are dropped. */
  receive(bytes: Uint8Array): void {
    let rest = this.#receiveBody(bytes);
    for (const file of this.#files) {
      if (rest.length === 0) return;
      rest = file.receive(rest);
    }
  }

  /** The rest will not come: readers get the reason. */
  end(reason: unknown): void {
    // Perhaps nobody reads it.
    this.body.catch(() => undefined);
    this.#bodyLost(reason);
    for (const file of this.#files) file.fail(reason);
  }

  /** Returns the bytes after the body, which belong to the files. */
  #receiveBody(bytes: Uint8Array): Uint8Array {
    if (this.#bodyMissing === 0) return bytes;
    const taken = bytes.subarray(0, this.#bodyMissing);
    this.#bodyMissing -= taken.length;
    // A refused body is consumed, but not kept.
    if (this.fault === null) {
      this.#body.append(taken);
      this.fault = this.#scan?.add(taken) ?? null;
    }
    this.#consumed(taken.length);
    if (this.#bodyMissing > 0) return bytes.subarray(taken.length);
    this.fault ??= this.#scan?.end() ?? null;
    this.#bodyArrived(this.#body.bytes);
    return bytes.subarray(taken.length);
  }
}

/** The received pieces of one file that have not been read: at most one window of the link. */
class FileQueue implements AsyncIterable<Uint8Array> {
  readonly #consumed: (bytes: number) => void;
  readonly #pieces: GatheredBytes[] = [];
  #missing: number;
  #failure: { readonly reason: unknown } | null = null;
  #wake: () => void = () => {};

  constructor(bytes: number, consumed: (bytes: number) => void) {
    this.#missing = bytes;
    this.#consumed = consumed;
  }

  /** Returns the bytes of the next file. */
  receive(bytes: Uint8Array): Uint8Array {
    const taken = bytes.subarray(0, this.#missing);
    this.#missing -= taken.length;
    if (taken.length > 0) this.#keep(taken);
    this.#wake();
    return bytes.subarray(taken.length);
  }

  /** A sender of single bytes decides the number of pieces, and each costs some 200 bytes more. */
  #keep(piece: Uint8Array): void {
    const last = this.#pieces.at(-1);
    const isSmall = last !== undefined && last.length + piece.length <= SMALL_BYTES;
    if (!isSmall) this.#pieces.push(new GatheredBytes());
    this.#pieces.at(-1)?.append(piece);
  }

  fail(reason: unknown): void {
    this.#failure = { reason };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.reason;
      const piece = this.#pieces.shift()?.bytes;
      if (piece !== undefined) {
        yield piece;
        this.#consumed(piece.length);
      } else if (this.#missing === 0) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
