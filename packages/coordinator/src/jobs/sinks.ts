/** The sink of a job's answer, by the row of its endpoint. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { ApiError } from '@inference-gateway/shared/errors';
import { filesOf } from '@inference-gateway/shared/openai/kinds';
import { AnswerFiles } from '../assets/answer-files.js';
import type { KeptFile, Shelf } from '../assets/answer-files.js';
import type { AssetLibrary } from '../assets/asset-library.js';
import type { Budget, Share } from '../core/usage/budget.js';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { Job, Asset } from '../store/port.js';
import { measureFiles, NOTHING_MEASURED } from '../assets/measures.js';
import type { Measures } from '../assets/measures.js';
import type { AnswerPart } from '../core/routing/links.js';
import type { Answerer, SinkFault, Sink } from '../run/work.js';
import { HeldDocument } from '../core/usage/held-document.js';

/** The answer to a translated request, in the form of its API, or its fault. */
export type TranslateResult = (job: Job, document: Buffer) => Promise<Buffer | string | ApiError>;

export interface JobSinkParts {
  readonly library: AssetLibrary;
  readonly maxImages: number;
  /** The memory budget for answers, shared with synchronous calls. */
  readonly budget: Budget;
  readonly translate: TranslateResult;
}

export class JobSinks {
  readonly library: AssetLibrary;
  readonly #parts: JobSinkParts;

  constructor(parts: JobSinkParts) {
    this.library = parts.library;
    this.#parts = parts;
  }

  /**
   * `body`: the request's; null if only its agent still has it. Throws `storage_full` if the
   * caller's space is used up, before a GPU computes in vain.
   */
  async open(job: Job, body: Uint8Array | null): Promise<JobSink> {
    const { memberId, keyId, requestId, endpoint } = job;
    const { media } = ENDPOINTS[endpoint];
    const { maxImages, budget, translate } = this.#parts;
    if (media === null) {
      const form = job.api === null ? null : (document: Buffer) => translate(job, document);
      return new TextResult(budget.open(memberId), form);
    }
    const maxBytes = await this.library.requireSpace(memberId);
    const shelf = this.library.unlisted;
    const unknown = { n: maxImages };
    const most = filesOf(endpoint, () => (body === null ? unknown : readSparse(body)));
    const made = { memberId, keyId, requestId, endpoint };
    const files = { shelf, ...made, family: media, maxBytes, most };
    return new FileResult(new AnswerFiles(files), shelf);
  }
}

/** The files of a media job. They are in place before the job's row refers to them. */
class FileResult implements JobSink {
  readonly committed = false;
  readonly #files: AnswerFiles;
  readonly #shelf: Shelf;
  #kept: readonly KeptFile[] = [];

  /** `shelf`: the store of the files. */
  constructor(files: AnswerFiles, shelf: Shelf) {
    this.#files = files;
    this.#shelf = shelf;
  }

  get result(): JobResult {
    const assets = this.#kept.map(({ asset }) => asset);
    return { text: null, assets, measures: measureFiles(this.#kept) };
  }

  begin(answerer: Answerer): void {
    this.#files.begin(answerer);
  }

  part(part: AnswerPart): SinkFault {
    return this.#files.part(part);
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    const intake = this.#files.data(bytes);
    if ('fault' in intake) return intake.fault;
    void intake.written.then(() => consumed(bytes.length));
    return null;
  }

  async end(): Promise<SinkFault> {
    const kept = await this.#files.end();
    if ('fault' in kept) return kept.fault;
    this.#kept = kept;
    return null;
  }

  discard(): void {
    this.#files.discard();
  }

  async drop(): Promise<void> {
    this.discard();
    await Promise.all(this.#kept.map(({ asset }) => this.#shelf.drop(asset)));
  }
}

type Translate = (document: Buffer) => ReturnType<TranslateResult>;

/** The JSON of a text job, held until it is complete. */
class TextResult implements JobSink {
  /** A job's caller sees nothing of it before its end. */
  readonly committed = false;
  readonly #document: HeldDocument;
  readonly #translate: Translate | null;
  #translated: Buffer | null = null;

  /** `translate`: null if the result keeps the form of its endpoint. */
  constructor(share: Share, translate: Translate | null) {
    this.#document = new HeldDocument(share);
    this.#translate = translate;
  }

  get result(): JobResult {
    const text = this.#translated ?? this.#document.bytes;
    return { text, assets: [], measures: NOTHING_MEASURED };
  }

  begin(): void {
    this.discard();
  }

  part(): string {
    return 'a file where JSON was due';
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    const fault = this.#document.append(bytes);
    if (fault === null) consumed(bytes.length);
    return fault;
  }

  end(): SinkFault | Promise<SinkFault> {
    const { fault, bytes } = this.#document;
    if (fault !== null || this.#translate === null) return fault;
    return this.#translate(bytes).then((translated) => {
      if (!Buffer.isBuffer(translated)) return translated;
      this.#translated = translated;
      return null;
    });
  }

  discard(): void {
    this.#document.clear();
    this.#translated = null;
  }

  async drop(): Promise<void> {
    this.discard();
  }
}

// The sink of a job: it keeps the answer, which becomes the job's result when it is complete.

interface JobResult {
  /** JSON of a text job; null if the result is files. */
  readonly text: Uint8Array | null;
  /** Files that are in place and have no rows yet. */
  readonly assets: readonly Asset[];
  readonly measures: Measures;
}

export interface JobSink extends Sink {
  /** The result of an answer that has ended well. */
  readonly result: JobResult;
  /** Releases the answer's memory: it failed, or its result is written. */
  discard(): void;
  /** Drops the result and its files. */
  drop(): Promise<void>;
}
