/** Looks at one uploaded file as it passes: its type by its first bytes, its size, its budget. */
import type { UploadField } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { contentTypeOf, DETECT_BYTES, detectFormat } from '@inference-gateway/shared/media/types';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import type { Share } from '../../core/usage/budget.js';

const NO_KNOWN_TYPE = 'its first bytes are of no known type';

/** Fails with an `ApiError` as soon as something is wrong with the file. */
export class FileInspector extends Transform {
  /** Both true once the file has ended. */
  bytes = 0;
  contentType = '';
  readonly #rule: UploadField;
  readonly #share: Share;
  readonly #maxBytes: number;
  #start = Buffer.alloc(0);

  constructor(rule: UploadField, share: Share, maxBytes: number) {
    super();
    this.#rule = rule;
    this.#share = share;
    this.#maxBytes = maxBytes;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.#count(piece.length);
      const held = this.contentType === '' ? this.#detect(piece) : piece;
      done(null, held);
    } catch (error) {
      done(error as Error);
    }
  }

  /** A file that ends before its type could be told is none. */
  override _flush(done: TransformCallback): void {
    if (this.contentType !== '') return done();
    return done(this.#unsupported(this.bytes === 0 ? 'it is empty' : NO_KNOWN_TYPE));
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#maxBytes) {
      const { name } = this.#rule;
      const message = `'${name}' has more than ${this.#maxBytes} bytes. Send a smaller file.`;
      throw new ApiError('file_too_large', message, { param: name });
    }
    this.#share.add(bytes);
  }

  /** Returns what may pass: nothing, as long as the type cannot be told. */
  #detect(piece: Buffer): Buffer {
    this.#start = Buffer.concat([this.#start, piece]);
    if (this.#start.length < DETECT_BYTES) return Buffer.alloc(0);
    const format = detectFormat(this.#start);
    const { formats, family } = this.#rule;
    const contentType =
      format !== null && formats.includes(format) ? contentTypeOf(format, family) : null;
    if (contentType === null) {
      throw this.#unsupported(format === null ? NO_KNOWN_TYPE : `it is ${format}`);
    }
    this.contentType = contentType;
    return this.#start;
  }

  #unsupported(why: string): ApiError {
    const { name, formats } = this.#rule;
    const known = formats.map((format) => (format === 'mp4' ? 'm4a' : format)).join(', ');
    const message = `The type of the file '${name}' is not supported: ${why}. Send ${known}.`;
    return new ApiError('unsupported_file_type', message, { param: name });
  }
}
