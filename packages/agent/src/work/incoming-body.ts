/**
 * A request's bytes as they come from the link: first the JSON body, held whole, then the announced
 * files, one after the other, each handed on piece by piece. The coordinator is granted new credit
 * for what has been taken, so that a file waits at the coordinator and not in this memory.
 */
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import { JsonScan } from '@inference-gateway/shared/json/scan';
import type { LocalUpload } from '../backends/backend.js';

/** Pieces are joined up to this size; frames of the usual size stay as they came. */
const SMALL_BYTES = 16 * 1024;

interface Announced {
  readonly bodyBytes: number;
  readonly uploads: readonly { readonly name: string; contentType: string; bytes: number }[];
  /** Told of bytes that have been taken out of memory. */
  readonly consumed: (bytes: number) => void;
}

export class IncomingBody {
  /** Resolves with the JSON body. */
  readonly body: Promise<Buffer>;
  readonly uploads: readonly LocalUpload[];
  /** Why the body is not to be parsed; null while there is no reason. */
  fault: string | null = null;
  readonly #body = new GatheredBytes();
  readonly #scan = new JsonScan();
  readonly #consumed: (bytes: number) => void;
  readonly #files: readonly FileQueue[];
  #bodyMissing: number;
  #bodyArrived: (body: Buffer) => void = () => {};

  constructor({ bodyBytes, uploads, consumed }: Announced) {
    this.#bodyMissing = bodyBytes;
    this.#consumed = consumed;
    this.body = new Promise((resolve) => {
      this.#bodyArrived = resolve;
    });
    if (bodyBytes === 0) this.#bodyArrived(Buffer.alloc(0));
    const queued = uploads.map((upload) => ({
      upload,
      file: new FileQueue(upload.bytes, consumed),
    }));
    this.#files = queued.map(({ file }) => file);
    this.uploads = queued.map(({ upload, file }) => ({ ...upload, read: () => file }));
  }

  /** How many values of JSON the body holds, as far as it has come. */
  get values(): number {
    return this.#scan.count;
  }

  /** Bytes beyond what was announced are dropped. */
  receive(bytes: Uint8Array): void {
    let rest = this.#receiveBody(bytes);
    for (const file of this.#files) {
      if (rest.length === 0) return;
      rest = file.receive(rest);
    }
  }

  /** Nobody will send the rest: whoever reads a file is told why. */
  end(reason: unknown): void {
    for (const file of this.#files) file.fail(reason);
  }

  /** Returns what is left for the files. */
  #receiveBody(bytes: Uint8Array): Uint8Array {
    if (this.#bodyMissing === 0) return bytes;
    const taken = bytes.subarray(0, this.#bodyMissing);
    this.#bodyMissing -= taken.length;
    // What is refused is taken, and not kept.
    if (this.fault === null) {
      this.#body.append(taken);
      this.fault = this.#scan.add(taken);
    }
    this.#consumed(taken.length);
    if (this.#bodyMissing > 0) return bytes.subarray(taken.length);
    this.fault ??= this.#scan.end();
    this.#bodyArrived(this.#body.bytes);
    return bytes.subarray(taken.length);
  }
}

/** The pieces of one file that have come and were not read yet: one window of the link at most. */
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

  /** Returns what belongs to the next file. */
  receive(bytes: Uint8Array): Uint8Array {
    const taken = bytes.subarray(0, this.#missing);
    this.#missing -= taken.length;
    if (taken.length > 0) this.#keep(taken);
    this.#wake();
    return bytes.subarray(taken.length);
  }

  /** Whoever sends a byte at a time decides how many there are, and each costs some 200 more. */
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
