/** Writes the output file and the error file of a batch whose requests are the lines of a file. */
import { ERRORS } from '@inference-gateway/shared/errors';
import type { Readable } from 'node:stream';
import type { AssetLibrary } from '../assets/asset-library.js';
import type { Draft } from '../assets/byte-store.js';
import type { Asking } from '../core/access/access.js';
import { assetFactsOf } from '../core/jobs/file-batch.js';
import type { JobError } from '../core/jobs/job.js';
import type {
  ApiFile,
  EndedLine,
  FedLine,
  FileStore,
  OpenFileBatch,
  NodeStore,
} from '../store/port.js';

/** Lines per operation of the store. */
const PAGE_LINES = 200;
/** Results that are held at once; a longer one alone. */
const RESULT_BYTES = 1024 * 1024;
/** Lines are collected to pieces of this length. */
const PIECE_CHARACTERS = 64 * 1024;

/** Reads the lines of input files. */
export interface LineReader {
  lines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<{ bytes: Buffer; end: number }>;
  customIdOf(line: Buffer, memberId: string): Promise<string>;
  toJob(line: Buffer, asking: Asking): Promise<Omit<FedLine, 'line'>>;
}

export interface BatchOutputParts {
  readonly store: FileStore & Pick<NodeStore, 'holdsUpkeep'>;
  readonly library: AssetLibrary;
  readonly reader: LineReader;
  readonly now: () => number;
}

/** The lines of the input file that were not read yet; null if it is gone. */
export function inputOf(
  { inputFileId, fedBytes }: OpenFileBatch,
  library: AssetLibrary,
): Promise<Readable | null> {
  return library.stream({ id: inputFileId }, { start: fedBytes, end: Number.MAX_SAFE_INTEGER });
}

export class BatchOutput {
  readonly #parts: BatchOutputParts;
  readonly #closing: AbortSignal;

  constructor(parts: BatchOutputParts, closing: AbortSignal) {
    this.#parts = parts;
    this.#closing = closing;
  }

  /**
   * Ends the batch, unless one of its jobs is queued again meanwhile. `fault`: why it cannot be
   * carried out. Throws `storage_full` if the member has no space for the files.
   */
  async finish(batch: OpenFileBatch, fault: JobError | null): Promise<void> {
    const { store, library, now } = this.#parts;
    const retries = await store.fileBatchRetries(batch.id);
    const room = await library.requireSpace(batch.memberId);
    const { unlisted } = library;
    const [output, errors] = [unlisted.draft(room), unlisted.draft(room)].map(toLineFile);
    if (output === undefined || errors === undefined) return;
    try {
      const counts = await this.#write(batch, { output, errors, isWhole: fault === null });
      const files = {
        output: await this.#keep(batch, output, 'output'),
        errors: await this.#keep(batch, errors, 'errors'),
      };
      const end = { batchId: batch.id, retries, ...files, ...counts, fault };
      const outcome = await store.endFileBatch(end, library.limits, now());
      if (outcome === 'ended') return;
      for (const file of [files.output, files.errors]) {
        if (file !== null) await unlisted.drop(file.asset);
      }
      if (outcome !== 'changed') throw library.fullError(outcome);
    } finally {
      await output.draft.discard();
      await errors.draft.discard();
    }
  }

  async #write(batch: OpenFileBatch, { output, errors, isWhole }: Written): Promise<Counts> {
    const { store } = this.#parts;
    let [after, failed] = [0, 0];
    for (;;) {
      const page = await store.endedLines(batch.id, after, PAGE_LINES);
      for (const [line, result] of await this.#withResults(page)) {
        if (result !== null) await output.add(answerLine(batch, line, result));
        else await errors.add(errorLine(batch, line));
        if (result === null && line.status !== 'CANCELED') failed += 1;
      }
      after = page.at(-1)?.line ?? after;
      if (page.length < PAGE_LINES) break;
    }
    if (isWhole && batch.fedLines < batch.lines) await this.#writeUnread(batch, errors);
    return { completed: output.lines, failed };
  }

  /** The lines of a page with the results of those that have one. */
  async #withResults(page: readonly EndedLine[]): Promise<readonly [EndedLine, string | null][]> {
    const pairs: [EndedLine, string | null][] = [];
    for (let from = 0; from < page.length;) {
      this.#closing.throwIfAborted();
      let [to, bytes] = [from, 0];
      for (; to < page.length && (to === from || bytes < RESULT_BYTES); to++) {
        bytes += page[to]?.resultBytes ?? 0;
      }
      const part = page.slice(from, to);
      const results = await this.#parts.store.jobResults(part.map(({ jobId }) => jobId ?? ''));
      for (const [i, line] of part.entries()) pairs.push([line, results[i] ?? null]);
      from = to;
    }
    return pairs;
  }

  /** Lines that were not read before the batch was canceled or has expired. */
  async #writeUnread(batch: OpenFileBatch, errors: LineFile): Promise<void> {
    const { reader, library } = this.#parts;
    const stream = await inputOf(batch, library);
    if (stream === null) return;
    let line = batch.fedLines;
    for await (const { bytes } of reader.lines(stream)) {
      this.#closing.throwIfAborted();
      line += 1;
      const customId = await reader.customIdOf(bytes, batch.memberId);
      await errors.add(errorLine(batch, { ...UNREAD, line, customId }));
    }
  }

  /** Null if it has no line. */
  async #keep(
    batch: OpenFileBatch,
    file: LineFile,
    name: 'output' | 'errors',
  ): Promise<ApiFile | null> {
    const { draft, lines } = file;
    if (lines === 0) return null;
    await file.flush();
    const { id, memberId, keyId, requestId, path, outputLifetimeMs } = batch;
    const facts = { memberId, keyId, requestId, ...assetFactsOf(path) };
    const asset = await this.#parts.library.unlisted.keep(draft, facts);
    const expiresAt = Math.min(asset.expiresAt, asset.createdAt + (outputLifetimeMs ?? Infinity));
    const filename = `batch_${id}_${name}.jsonl`;
    return { asset: { ...asset, expiresAt }, purpose: 'batch_output', filename, path, lines };
  }
}

interface Written {
  readonly output: LineFile;
  readonly errors: LineFile;
  /** Whether lines that were not read have an error. */
  readonly isWhole: boolean;
}

interface Counts {
  readonly completed: number;
  readonly failed: number;
}

/** A file of lines that is being written. */
interface LineFile {
  readonly draft: Draft;
  readonly lines: number;
  add(line: string): Promise<void>;
  flush(): Promise<void>;
}

function toLineFile(draft: Draft): LineFile {
  let [held, lines] = ['', 0];
  const flush = async (): Promise<void> => {
    const piece = Buffer.from(held);
    held = '';
    if (piece.length > 0) await draft.write(piece);
  };
  return {
    draft,
    get lines() {
      return lines;
    },
    add: async (line) => {
      held += `${line}\n`;
      lines += 1;
      if (held.length >= PIECE_CHARACTERS) await flush();
    },
    flush,
  };
}

const UNREAD = { jobId: null, status: 'CANCELED', error: null, resultBytes: 0 } as const;

/** The result is inserted as it is stored; line breaks in JSON are only between its values. */
function answerLine({ id }: OpenFileBatch, line: EndedLine, result: string): string {
  const head = JSON.stringify({ id: requestId(id, line), custom_id: line.customId });
  const body = result.replaceAll(/[\r\n]+/g, ' ');
  const response = `{"status_code":200,"request_id":${JSON.stringify(line.jobId)},"body":${body}}`;
  return `${head.slice(0, -1)},"response":${response},"error":null}`;
}

function errorLine(batch: OpenFileBatch, line: EndedLine): string {
  const head = { id: requestId(batch.id, line), custom_id: line.customId };
  if (line.error === null || line.status === 'CANCELED') {
    return JSON.stringify({ ...head, response: null, error: unansweredOf(batch) });
  }
  const { status } = ERRORS[line.error.code];
  const response = { status_code: status, request_id: line.jobId, body: { error: line.error } };
  return JSON.stringify({ ...head, response, error: null });
}

function unansweredOf({ expiredAt, windowMs }: OpenFileBatch) {
  if (expiredAt === null) {
    return { code: 'batch_cancelled', message: 'The request was canceled before it was answered.' };
  }
  const hours = windowMs / 3_600_000;
  const message = `The request was not answered within the batch's window of ${hours} hours.`;
  return { code: 'batch_expired', message };
}

function requestId(batchId: string, { line }: EndedLine): string {
  return `batch_req_${batchId}_${line}`;
}
