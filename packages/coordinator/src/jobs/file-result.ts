/** The files of a media job. They are in their places before the job's own row tells of them. */
import type { AnswerFiles, KeptFile } from '../assets/answer-files.js';
import type { Shelf } from '../assets/answer-files.js';
import { measureFiles } from '../assets/measures.js';
import type { AnswerPart } from '../core/routing/links.js';
import type { Answerer, SinkFault } from '../run/work.js';
import type { JobResult, JobSink } from './job-sink.js';

export class FileResult implements JobSink {
  readonly committed = false;
  readonly #files: AnswerFiles;
  readonly #shelf: Shelf;
  #kept: readonly KeptFile[] = [];

  /** `shelf` is the one that the files are put on. */
  constructor(files: AnswerFiles, shelf: Shelf) {
    this.#files = files;
    this.#shelf = shelf;
  }

  get result(): JobResult {
    const assets = this.#kept.map(({ asset }) => asset);
    return { text: null, assets, measures: measureFiles(this.#kept) };
  }

  begin({ providerId }: Answerer): void {
    this.#files.begin(providerId);
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
