/** The answer of one call on its way to an HTTP caller. */
import type { ApiError } from '@inference-gateway/shared/errors';
import type { Measures } from '../../../assets/measures.js';
import type { Sink } from '../../../run/work.js';

export interface HttpAnswer extends Sink {
  /** Of an answer that ended well. */
  readonly measures: Measures;
  /**
   * The call has failed, or its caller has left (null): what was gathered is dropped. True where
   * the caller was told here, or cannot be told any more; else the boundary tells it.
   */
  fail(error: ApiError | null): boolean;
}
