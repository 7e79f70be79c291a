/** Which sink a job's answer goes to: the endpoint's row says. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { AnswerFiles } from '../assets/answer-files.js';
import type { AssetLibrary } from '../assets/asset-library.js';
import type { Budget } from '../core/usage/budget.js';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { Job } from '../store/port.js';
import { FileResult } from './file-result.js';
import type { JobSink } from './job-sink.js';
import { TextResult } from './text-result.js';

export interface JobSinkLimits {
  readonly maxImages: number;
}

export class JobSinks {
  readonly library: AssetLibrary;
  readonly #limits: JobSinkLimits;
  readonly #budget: Budget;

  /** `budget` is the memory for answers, which synchronous calls take theirs from, too. */
  constructor(library: AssetLibrary, limits: JobSinkLimits, budget: Budget) {
    this.library = library;
    this.#limits = limits;
    this.#budget = budget;
  }

  /**
   * `body` is the request's, null where only its agent still has it. Throws `storage_full` where
   * the caller's space is spent: no GPU works for nothing.
   */
  async open(job: Job, body: Uint8Array | null): Promise<JobSink> {
    const { memberId, requestId, model, endpoint } = job;
    const { media } = ENDPOINTS[endpoint];
    if (media === null) return new TextResult(this.#budget.open(memberId));
    const maxBytes = await this.library.requireSpace(memberId);
    const shelf = this.library.unlisted;
    const most = ENDPOINTS[endpoint].answer === 'images' ? this.#imagesIn(body) : 1;
    const files = { shelf, memberId, requestId, model, endpoint, family: media, maxBytes, most };
    return new FileResult(new AnswerFiles(files), shelf);
  }

  #imagesIn(body: Uint8Array | null): number {
    if (body === null) return this.#limits.maxImages;
    const { n } = readSparse(body);
    return typeof n === 'number' ? n : 1;
  }
}
