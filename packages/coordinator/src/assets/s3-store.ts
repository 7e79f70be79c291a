/**
 * A byte store in an S3-compatible object storage. A file is written and hashed on this machine,
 * and sent with one PUT once it is complete, so every object there is complete. Its key is the id
 * of the asset; objects with other names are left alone.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { randomId } from '@inference-gateway/shared/ids';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable, pipeline } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { MAX_ASSET_BYTES, isAssetId } from './byte-store.js';
import type {
  ByteRange,
  ByteStore,
  CommittedFile,
  Draft,
  LinkHeaders,
  StoredFile,
} from './byte-store.js';
import type { Bucket } from './files-url.js';
import { draftPath, sweepDraftsIn } from './folder-store.js';
import { LocalDraft } from './local-draft.js';
import { S3Client, S3Error, elementsOf, textOf } from './s3-client.js';
import type { S3Credentials, S3Limits } from './s3-client.js';

export interface S3StoreParts {
  readonly bucket: Bucket;
  readonly credentials: S3Credentials;
  /** On this machine, for files that are not complete. */
  readonly draftFolder: string;
  readonly limits?: S3Limits;
}

export function openS3Store(parts: S3StoreParts): S3Store {
  return new S3Store(parts);
}

export class S3Store implements ByteStore {
  readonly #bucket: Bucket;
  readonly #client: S3Client;
  readonly #draftFolder: string;

  constructor({ bucket, credentials, draftFolder, limits }: S3StoreParts) {
    this.#bucket = bucket;
    this.#client = new S3Client(bucket, credentials, limits);
    this.#draftFolder = draftFolder;
  }

  draft(maxBytes: number = MAX_ASSET_BYTES, id: string = randomId()): Draft {
    const path = draftPath(this.#draftFolder, id);
    const store = (file: CommittedFile): Promise<void> => this.#upload(this.#key(id), path, file);
    return new LocalDraft({ id, path, maxBytes, store });
  }

  location(id: string): string {
    const { bucket } = this.#bucket;
    return `s3://${bucket}/${this.#key(id)}`;
  }

  async read(id: string, range?: ByteRange): Promise<Readable | null> {
    const wanted = range ?? { start: 0, end: null };
    const key = this.#key(id);
    const first = await unlessOutside(this.#get(key, wanted));
    if (first === 'outside') return Readable.from([]);
    return first && this.#continued(key, wanted, first);
  }

  async bytes(id: string): Promise<number | null> {
    const answer = await told(this.#client.send({ method: 'HEAD', key: this.#key(id) }));
    answer?.resume();
    return answer && lengthOf(answer);
  }

  async remove(id: string): Promise<boolean> {
    // S3 does not say whether there was one.
    if ((await this.bytes(id)) === null) return false;
    const answer = await told(this.#client.send({ method: 'DELETE', key: this.#key(id) }));
    answer?.resume();
    return true;
  }

  async *list(): AsyncIterable<StoredFile> {
    const { prefix } = this.#bucket;
    for (let after: string | null = null; ;) {
      const more: Record<string, string> = after === null ? {} : { 'continuation-token': after };
      const pageFiles = String(this.#client.limits.pageFiles);
      const query = { 'list-type': '2', prefix, 'max-keys': pageFiles, ...more };
      const page = await told(this.#page(query));
      for (const found of page.files) yield found;
      if (page.next === null) return;
      after = page.next;
    }
  }

  sweepDrafts(before: number): Promise<number> {
    return sweepDraftsIn(this.#draftFolder, before);
  }

  link(id: string, seconds: number, headers: LinkHeaders): Promise<string> {
    return this.#client.presign(this.#key(id), seconds, {
      'response-content-type': headers.contentType,
      'response-content-disposition': headers.contentDisposition,
    });
  }

  close(): void {
    this.#client.close();
  }

  #key(id: string): string {
    if (!isAssetId(id)) throw new Error(`'${id}' is no id of an asset`);
    return `${this.#bucket.prefix}${id}`;
  }

  async #upload(key: string, path: string, file: CommittedFile): Promise<void> {
    // The body is not JSON or a page, whatever its type is: that is in the row.
    const headers = { 'content-type': 'application/octet-stream' };
    const upload = { path, ...file };
    const answer = await told(this.#client.send({ method: 'PUT', key, headers, upload }));
    if (answer === null) throw unavailable(new S3Error('it is refused', NO_KEY));
    answer.resume();
    await rm(path, { force: true });
  }

  async #get(key: string, { start, end }: Wanted): Promise<IncomingMessage | null> {
    const isWhole = start === 0 && end === null;
    const range = `bytes=${start}-${end === null ? '' : end - 1}`;
    const headers: Record<string, string> = isWhole ? {} : { range };
    const answer = await this.#client.send({ method: 'GET', key, headers });
    if (answer === null || isWhole || answer.statusCode === 206) return answer;
    answer.destroy();
    throw new S3Error('ranges of files are not answered', { status: 200, code: 'NoRange' });
  }

  /** The bytes of an answer; where it breaks off, a further request asks for the rest. */
  #continued(key: string, wanted: Wanted, first: IncomingMessage): Readable {
    let current = first;
    const read = async function* (this: S3Store): AsyncGenerator<Buffer> {
      const length = lengthOf(first);
      const end = length === null ? wanted.end : wanted.start + length;
      let [sent, broken] = [0, 0];
      for (;;) {
        try {
          for await (const piece of current as AsyncIterable<Buffer>) {
            [sent, broken] = [sent + piece.length, 0];
            yield piece;
          }
          if (length === null || sent === length) return;
          throw new Error(`${sent} of ${length} bytes`);
        } catch (error) {
          broken += 1;
          const { tries, firstPauseMs } = this.#client.limits;
          if (stream.destroyed || broken >= tries) throw unavailable(error);
          await setTimeout(firstPauseMs);
        }
        const rest = await told(this.#get(key, { start: wanted.start + sent, end }));
        if (rest === null) throw unavailable(new Error('the file was deleted meanwhile'));
        current = rest;
      }
    };
    const stream = new PassThrough();
    // A generator that waits for bytes does not learn that nobody wants them any more.
    stream.once('close', () => current.destroy());
    pipeline(read.call(this), stream, () => {});
    return stream;
  }

  async #page(
    query: Readonly<Record<string, string>>,
  ): Promise<{ readonly files: readonly StoredFile[]; readonly next: string | null }> {
    const answer = await this.#client.send({ method: 'GET', key: '', query });
    if (answer === null) return { files: [], next: null };
    const xml = await textOf(answer);
    const { length } = this.#bucket.prefix;
    const files = xml
      .split('<Contents>')
      .slice(1)
      .flatMap((entry) => {
        const id = elementsOf(entry, 'Key')[0]?.slice(length) ?? '';
        const bytes = Number(elementsOf(entry, 'Size')[0]);
        const modifiedAt = Date.parse(elementsOf(entry, 'LastModified')[0] ?? '');
        return isAssetId(id) ? [{ id, bytes, modifiedAt }] : [];
      });
    return { files, next: elementsOf(xml, 'NextContinuationToken')[0] ?? null };
  }
}

const NO_KEY = { status: 404, code: 'NoSuchKey' };

interface Wanted {
  readonly start: number;
  /** The byte after the last one; null: to the end. */
  readonly end: number | null;
}

function lengthOf({ headers }: IncomingMessage): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

/** A range that begins at the end of a file is empty, as on a disk. */
async function unlessOutside<T>(answer: Promise<T>): Promise<T | 'outside'> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof S3Error && error.code === 'InvalidRange') return 'outside';
    throw unavailable(error);
  }
}

/** Makes an `ApiError` of an `S3Error`. */
async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw unavailable(error);
  }
}

const NO_SPACE = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage']);

/** The error for callers. The cause is only logged. */
function unavailable(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof S3Error && (cause.status === 507 || NO_SPACE.has(cause.code))) {
    const message =
      "The gateway's object storage is full, so that it cannot keep the file. Tell its admin; " +
      'deleting generated files makes room.';
    return new ApiError('storage_full', message, { cause });
  }
  const message =
    'The gateway cannot use its object storage now, where it keeps files. Try again; tell its ' +
    'admin.';
  return new ApiError('storage_unavailable', message, { cause });
}
