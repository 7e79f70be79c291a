/**
 * An answer while it is generated: its bytes so far, and how it ended. The answer of a synchronous
 * call is lost with its link; that of a job outlives the link, and is sent again from its first
 * byte.
 */
import type { ResetCode, TokenUsage } from '@inference-gateway/shared/protocol/messages';

export type Ending =
  | { readonly kind: 'whole'; readonly usage: TokenUsage }
  | { readonly kind: 'failed'; readonly code: ResetCode; readonly message: string };

export class Answer {
  readonly pieces: Buffer[] = [];
  contentType = 'application/json';
  ending: Ending | null = null;
  /** Told of every piece, and of the end. */
  onGrowth: () => void = () => {};
  readonly #onEnd: () => void;

  /** `onEnd` is called once, before the end is sent. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  add(text: string): void {
    this.pieces.push(Buffer.from(text));
    this.onGrowth();
  }

  /** The first end is the one that counts. */
  end(ending: Ending): void {
    if (this.ending !== null) return;
    this.ending = ending;
    this.#onEnd();
    this.onGrowth();
  }
}
