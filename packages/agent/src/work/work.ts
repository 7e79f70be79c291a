/** What a piece of work is to its run, whether a caller waits for it or not. */
import type {
  Message,
  RejectReason,
  ResetCode,
  TokenUsage,
} from '@inference-gateway/shared/protocol/messages';
import type { LocalUpload, MediaPart } from '../backends/backend.js';

/** Why the work was stopped: the reason of its abort signal. */
export type StopReason = 'canceled' | 'deadline' | 'link lost' | 'yielded';

/** What a run needs of the work that it does. */
export interface Work {
  readonly open: Message<'OPEN'>;
  readonly request: {
    /** Resolves with the JSON body. */
    readonly body: Promise<Buffer>;
    /** Why the body is not to be parsed, told when it has come; null where it is. */
    readonly fault: string | null;
    /** How many values of JSON it holds, as far as it has come. */
    readonly values: number;
    readonly uploads: readonly LocalUpload[];
  };
  readonly signal: AbortSignal;
  accept(): void;
  reject(reason: RejectReason): void;
  /** Ends the run; its last word tells why. */
  stop(reason: StopReason): void;
  progress(phase: string): void;
  head(status: number, contentType: string): void;
  /** The next file of the answer begins. */
  part(part: MediaPart): void;
  /** Takes a piece of the answer and resolves when there is room for the next. */
  data(bytes: Uint8Array): Promise<void>;
  /** The answer is whole. */
  end(usage: TokenUsage | null): void;
  /** There will be no answer, or no more of it: `usage` is that of what was sent of it. */
  fail(code: ResetCode, message: string, usage?: TokenUsage | null): void;
}
