/** A piece of work as its run sees it, whether a caller waits for it or not. */
import type {
  Message,
  RejectReason,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import type { LocalUpload, MediaPart } from '../backends/backend.js';

/** Why the work was stopped: the reason of its abort signal. */
export type StopReason = 'canceled' | 'deadline' | 'link lost' | 'yielded';

/** What a run needs from its work. */
export interface Work {
  readonly open: Message<'OPEN'>;
  readonly request: {
    /** Resolves with the JSON body; rejects with the reason of `signal` if the work is stopped. */
    readonly body: Promise<Buffer>;
    /** The reason not to parse the body, set once it has arrived; null if there is none. */
    readonly fault: string | null;
    /** The number of JSON values in the body so far. */
    readonly values: number;
    readonly uploads: readonly LocalUpload[];
  };
  readonly signal: AbortSignal;
  accept(): void;
  reject(reason: RejectReason): void;
  /** Ends the run; its final message gives the reason. */
  stop(reason: StopReason): void;
  progress(phase: string): void;
  head(status: number, contentType: string): void;
  /** The next file of the answer begins. */
  part(part: MediaPart): void;
  /** Takes a piece of the answer and resolves when there is room for the next. */
  data(bytes: Uint8Array): Promise<void>;
  /** The answer is whole. */
  end(cost: AnswerCost): void;
  /** The answer has failed, in whole or in its remaining part: `usage` counts the sent part. */
  fail(code: ResetCode, message: string, cost?: AnswerCost): void;
}
