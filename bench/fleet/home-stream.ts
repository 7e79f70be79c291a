/**
 * One stream of a home's link: a request comes in whole, and an answer goes out from its first byte
 * on, as fast as it is made, the coordinator grants credit, and the home's line carries it.
 */
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import type { AgentEndStream, AgentWork } from '@inference-gateway/shared/protocol/link';
import type { RejectReason, ResetCode } from '@inference-gateway/shared/protocol/messages';
import type { Answer, Ending } from './answer.js';
import type { UpLine } from './up-line.js';

/** Told what becomes of the stream. */
export interface StreamWork {
  /** The request is here. */
  asked(body: string): void;
  /** The last word has gone out. */
  answered(): void;
  /** The coordinator wants no answer any more, and knows by now that it gets none. */
  canceled(): void;
  /** The link has ended. */
  lost(): void;
}

export class HomeStream implements AgentWork {
  readonly stream: AgentEndStream;
  readonly #line: UpLine;
  readonly #body = new GatheredBytes();
  #bodyBytes = 0;
  #work: StreamWork | null = null;
  #wake: () => void = () => {};
  #hasLastWord = false;

  constructor(stream: AgentEndStream, line: UpLine) {
    this.stream = stream;
    this.#line = line;
  }

  /** Takes the work on this stream, whose request has so many bytes. */
  take(work: StreamWork, bodyBytes: number): void {
    this.#work = work;
    this.#bodyBytes = bodyBytes;
  }

  accept(): void {
    this.stream.say({ t: 'ACCEPT' });
  }

  reject(reason: RejectReason): void {
    this.stream.say({ t: 'REJECT', reason });
    this.close();
  }

  /** A home keeps only the request, so received bytes count as consumed. */
  receive(bytes: Uint8Array): void {
    if (!this.stream.hadCredit(bytes.length)) return this.reset('FLOW_CONTROL');
    this.stream.consumed(bytes.length);
    this.#body.append(bytes);
    if (this.#body.length === this.#bodyBytes) this.#work?.asked(this.#body.bytes.toString());
    return undefined;
  }

  /** Sends the answer. */
  carry(answer: Answer): void {
    answer.onGrowth = () => this.#wake();
    void this.#sendAll(answer);
  }

  /** The coordinator stopped the work, and waits for a word back. */
  cancel(): void {
    this.reset('CANCELED');
    this.#work?.canceled();
  }

  /** Sends the final message, if it was not sent yet, instead of the unsent rest. */
  reset(code: ResetCode, message = ''): void {
    if (!this.#hasLastWord) this.#sayReset(code, message);
    this.close();
  }

  abandon(): void {
    this.close();
    this.#work?.lost();
  }

  close(): void {
    this.stream.close();
    this.#wake();
  }

  /** A failure replaces the unsent rest. */
  async #sendAll(answer: Answer): Promise<void> {
    for (let next = 0; this.stream.isOpen;) {
      const piece = answer.pieces[next];
      if (answer.ending?.kind === 'failed') return this.#end(answer.ending);
      if (piece !== undefined) {
        if (next === 0) this.#head(answer);
        next += 1;
        await this.#sendPiece(piece);
      } else if (answer.ending !== null) return this.#end(answer.ending);
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return undefined;
  }

  async #sendPiece(piece: Buffer): Promise<void> {
    await this.#line.carry(piece.length);
    if (!this.stream.isOpen) return;
    this.stream.out.data(piece);
    await this.stream.out.drained();
  }

  /** HEAD goes out with the first byte: until then another home can take over. */
  #head({ contentType }: Answer): void {
    this.stream.sayInOrder({ t: 'HEAD', status: 200, content_type: contentType });
  }

  #end(ending: Ending): void {
    if (ending.kind === 'failed') {
      this.stream.out.discard();
      this.#sayReset(ending.code, ending.message);
      return this.#work?.answered();
    }
    this.stream.sayInOrder({ t: 'END', ok: true, usage: ending.usage });
    void this.stream.out.emptied().then(() => this.#ended());
    return undefined;
  }

  /** The last byte has found credit. */
  #ended(): void {
    if (!this.stream.isOpen) return;
    this.#hasLastWord = true;
    this.#work?.answered();
  }

  #sayReset(code: ResetCode, message: string): void {
    this.#hasLastWord = true;
    this.stream.say({ t: 'RESET', code, message });
  }
}
