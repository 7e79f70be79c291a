/** Where the answer to a job goes: it is kept, and becomes the job's result when it is whole. */
import type { Measures } from '../assets/measures.js';
import type { Asset } from '../store/port.js';
import type { Sink } from '../run/work.js';

export interface JobResult {
  /** JSON of a text job; null where the result is files. */
  readonly text: Uint8Array | null;
  /** They lie in their places and have no rows yet. */
  readonly assets: readonly Asset[];
  readonly measures: Measures;
}

export interface JobSink extends Sink {
  /** Of an answer that has ended well. */
  readonly result: JobResult;
  /** Gives back what the answer takes up: it failed, or what became of it is written. */
  discard(): void;
  /** Nobody wants the result: its files go as well. */
  drop(): Promise<void>;
}
