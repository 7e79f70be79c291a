/**
 * Multipart bodies. Fields may come in any order; files are written to disk as they arrive, their
 * type is detected from their first bytes, their size is counted, and they are always removed.
 */
import type { UploadField } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { missingParameter } from '@inference-gateway/shared/openai/check';
import type { FormFields } from '@inference-gateway/shared/openai/requests';
import busboy from 'busboy';
import { finished, Transform } from 'node:stream';
import type { Readable, TransformCallback } from 'node:stream';
import { contentTypeOf, DETECT_BYTES, detectFormat } from '@inference-gateway/shared/media/types';
import type { Upload } from '../../core/routing/links.js';
import { Budget } from '../../core/usage/budget.js';
import type { Share } from '../../core/usage/budget.js';
import { callerOf } from '../edge/context.js';
import type { Context } from '../edge/context.js';
import { decodedBody, decodingFault } from './body.js';
import { readSpooled, removeSpooled, writeSpooled } from './spool.js';
import type { Spool } from './spool.js';

/** Specification, section 8: 25 MB for each file. */
export const MAX_FILE_BYTES = 26_214_400;

/** All text fields together, including boundaries and headers of the parts. */
const MAX_FIELDS_BYTES = 1024 * 1024;

const MAX_PARTS = 64;

/** All uploads on disk at the same time. */
const SPOOL_LIMITS = { totalBytes: 8 * 1024 ** 3, memberBytes: 2 * 1024 ** 3 };

/** A file of a form. Without formats it may be anything. */
export interface FormFile extends UploadField {
  /** Absent: `MAX_FILE_BYTES`. */
  readonly maxBytes?: number;
}

export interface UploadedFile extends Upload {
  readonly path: string;
  /** As its sender calls it; empty if it has no name. */
  readonly filename: string;
}

export interface Form {
  readonly fields: FormFields;
  readonly files: readonly UploadedFile[];
  /** Throws if a required file is missing. */
  requireFiles(): void;
  /** Removes the files. */
  remove(): Promise<void>;
}

export class Uploads {
  readonly #spool: Spool;
  readonly #budget = new Budget(SPOOL_LIMITS);

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** Reads the whole form. Throws an `ApiError` after removing everything. */
  async read(ctx: Context, uploads: readonly FormFile[]): Promise<Form> {
    refuseLargest(ctx, uploads);
    const reading = new FormReading({
      rules: uploads,
      spool: this.#spool,
      share: this.#budget.open(callerOf(ctx).memberId),
    });
    try {
      await reading.run(ctx, createParser(ctx));
      return reading.form();
    } catch (error) {
      await reading.remove();
      throw error;
    }
  }
}

interface ReadingParts {
  readonly rules: readonly FormFile[];
  readonly spool: Spool;
  readonly share: ReturnType<Budget['open']>;
}

/** A form that is being received. */
class FormReading {
  readonly #parts: ReadingParts;
  readonly #fields = new Map<string, string[]>();
  readonly #files: UploadedFile[] = [];
  readonly #paths: string[] = [];
  readonly #writes: Promise<void>[] = [];
  #fieldBytes = 0;
  #hasFailed = false;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
  }

  /** Resolves when every field is read and every file is written; the first error ends it. */
  run(ctx: Context, parser: busboy.Busboy): Promise<void> {
    const { stream, stop } = decodedBody(ctx);
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        this.#hasFailed = true;
        // Not `pipeline`, which destroys the request: the next one on the connection would wait.
        stream.unpipe(parser);
        stop();
        parser.destroy();
        reject(asApiError(error, ctx));
      };
      this.#listen(parser, fail);
      parser.once('close', () => void Promise.all(this.#writes).then(() => resolve(), fail));
      // A caller who has already left causes no further event: a listener would wait for ever.
      finished(stream, { writable: false }, (error) => error && fail(error));
      limitBytes(stream, this.#parts.rules, fail);
      stream.pipe(parser);
    });
  }

  form(): Form {
    return {
      fields: this.#fields,
      files: this.#files,
      requireFiles: () => this.#requireFiles(),
      remove: () => this.remove(),
    };
  }

  /** Waits for current writes: their files may be created only now. */
  async remove(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await removeSpooled(this.#paths);
    this.#parts.share.release();
  }

  #listen(parser: busboy.Busboy, fail: (error: unknown) => void): void {
    // A destroyed parser still emits the parts of its current piece: a file that begins there would
    // never end.
    const guard = (act: () => void): void => {
      if (this.#hasFailed) return;
      try {
        act();
      } catch (error) {
        fail(error);
      }
    };
    parser.on('field', (name: string | undefined, value, info) =>
      guard(() => this.#field(required(name), value, info.valueTruncated)),
    );
    parser.on('file', (name: string | undefined, stream, info) => {
      // The rest of a refused file is ignored, and so are its errors.
      stream.on('error', () => {});
      guard(() => {
        const write = this.#file(required(name), stream, info.filename ?? '');
        this.#writes.push(write);
        write.catch(fail);
      });
    });
    parser.once('partsLimit', () => fail(tooManyParts()));
    // A parser that is destroyed half-way emits an error, too.
    parser.on('error', fail);
  }

  #requireFiles(): void {
    for (const { name, required } of this.#parts.rules) {
      const isMissing = required && !this.#files.some((file) => file.name === name);
      if (isMissing) throw missingParameter(name);
    }
  }

  #field(name: string, value: string, isTruncated: boolean): void {
    this.#fieldBytes += name.length + Buffer.byteLength(value);
    if (isTruncated || this.#fieldBytes > MAX_FIELDS_BYTES) {
      const message = `The fields of the form hold more than ${MAX_FIELDS_BYTES} bytes. Send less.`;
      throw new ApiError('body_too_large', message, { param: name });
    }
    this.#fields.set(name, [...(this.#fields.get(name) ?? []), value]);
  }

  async #file(written: string, stream: Readable, filename: string): Promise<void> {
    const rule = this.#ruleOf(written);
    const path = this.#parts.spool.newPath();
    this.#paths.push(path);
    const inspector = new FileInspector(rule, this.#parts.share);
    // Added before it is complete: files keep the order of their arrival.
    const position = this.#files.length;
    const file = { name: rule.name, path, filename, read: () => readSpooled(path) };
    this.#files[position] = { ...file, contentType: '', bytes: 0 };
    await writeSpooled(path, stream, inspector);
    const { bytes, contentType } = inspector;
    this.#files[position] = { ...file, contentType, bytes };
  }

  /** `image[]` is `image`, as some clients write it. */
  #ruleOf(written: string): FormFile {
    const { rules } = this.#parts;
    const name = written.replace(/\[\]$/, '');
    const rule = rules.find((one) => one.name === name);
    if (rule === undefined) {
      const names = rules.map((one) => `'${one.name}'`).join(' and ');
      const message = `'${written}' is no file of this endpoint. It takes ${names}.`;
      throw new ApiError('unsupported_value', message, { param: written });
    }
    if (this.#files.filter((file) => file.name === name).length < rule.most) return rule;
    const message = `'${name}' came more than ${rule.most} times. Send fewer files.`;
    throw new ApiError('invalid_value', message, { param: name });
  }
}

/** A form with a larger announced size than permitted is not read at all. */
function refuseLargest(ctx: Context, rules: readonly FormFile[]): void {
  const announced = Number(ctx.get('content-length') || 0);
  const most = mostBytes(rules);
  if (announced <= most) return;
  const message = `The form has ${announced} bytes, and ${most} are allowed. Send a smaller file.`;
  throw new ApiError('file_too_large', message, { param: rules[0]?.name ?? 'file' });
}

/** Without an announced size a field may be endless, which the parser drops without an event. */
function limitBytes(
  body: Readable,
  rules: readonly FormFile[],
  fail: (error: unknown) => void,
): void {
  const most = mostBytes(rules);
  let bytes = 0;
  body.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= most) return;
    fail(new ApiError('body_too_large', `The form is larger than ${most} bytes. Send less.`));
  });
}

function mostBytes(rules: readonly FormFile[]): number {
  return rules.reduce((sum, rule) => sum + rule.most * mostOf(rule), MAX_FIELDS_BYTES);
}

function mostOf({ maxBytes = MAX_FILE_BYTES }: FormFile): number {
  return maxBytes;
}

function createParser(ctx: Context): busboy.Busboy {
  const type = ctx.get('content-type');
  if (!type.toLowerCase().startsWith('multipart/form-data')) {
    const message = `The content type '${type}' is not supported here. Send multipart/form-data.`;
    throw new ApiError('unsupported_content_type', message);
  }
  try {
    return busboy({
      headers: ctx.req.headers,
      defParamCharset: 'utf8',
      // busboy refuses the part that reaches the limit, and not the next one: hence one more.
      limits: { fieldSize: MAX_FIELDS_BYTES, parts: MAX_PARTS + 1 },
    });
  } catch (cause) {
    throw new ApiError('invalid_multipart', `${(cause as Error).message}.`);
  }
}

function required(name: string | undefined): string {
  if (name !== undefined) return name;
  throw new ApiError('invalid_multipart', 'A part of the form has no name. Name each of them.');
}

function tooManyParts(): ApiError {
  const message = `The form has more than ${MAX_PARTS} parts. Send fewer fields and files.`;
  return new ApiError('invalid_multipart', message);
}

/** A full disk is the gateway's fault, a broken form the caller's. */
function asApiError(error: unknown, ctx: Context): ApiError {
  if (error instanceof ApiError) return error;
  const fault = decodingFault(error, ctx);
  if (fault !== null) return new ApiError('invalid_multipart', `The form is unreadable: ${fault}.`);
  const { message, errno } = error as NodeJS.ErrnoException;
  // Of all errors here, only those of the disk have a number.
  if (errno !== undefined) {
    const text = 'The gateway cannot store uploads now. Try again later.';
    return new ApiError('storage_unavailable', text, { cause: error });
  }
  return new ApiError('invalid_multipart', `The multipart body cannot be read: ${message}.`);
}

// Inspects an uploaded file as it passes: its type by its first bytes, its size, its budget.

const ANY_TYPE = 'application/octet-stream';
const NO_KNOWN_TYPE = 'its first bytes are of no known type';

/** Fails with an `ApiError` at the first error of the file. */
export class FileInspector extends Transform {
  /** Both true once the file has ended. */
  bytes = 0;
  contentType = '';
  readonly #rule: FormFile;
  readonly #share: Share;
  #start = Buffer.alloc(0);

  constructor(rule: FormFile, share: Share) {
    super();
    this.#rule = rule;
    this.#share = share;
    if (rule.formats.length === 0) this.contentType = ANY_TYPE;
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

  /** A file that ends before its type is detected is invalid. */
  override _flush(done: TransformCallback): void {
    if (this.contentType !== '') return done();
    return done(this.#unsupported(this.bytes === 0 ? 'it is empty' : NO_KNOWN_TYPE));
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    const most = mostOf(this.#rule);
    if (this.bytes > most) {
      const { name } = this.#rule;
      const message = `'${name}' has more than ${most} bytes. Send a smaller file.`;
      throw new ApiError('file_too_large', message, { param: name });
    }
    this.#share.add(bytes);
  }

  /** Returns the bytes that may pass: none until the type is detected. */
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
