/**
 * One stream of a home's link: a request comes in whole, and an answer goes out from its first byte
 * on, as fast as it is made, the coordinator grants credit, and the home's line carries it.
 */
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import { ReceiveWindow } from '@inference-gateway/shared/protocol/credit';
import { encodeWindow } from '@inference-gateway/shared/protocol/frames';
import type {
  AgentMessage,
  RejectReason,
  ResetCode,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { SendStream } from '@inference-gateway/shared/protocol/writer';
import type { Answer, Ending } from './answer.js';
import type { UpLine } from './up-line.js';

export interface StreamHost {
  readonly line: UpLine;
  control(frame: string | Uint8Array): void;
  /** Nothing more is to be heard on this stream. */
  closed(): void;
}

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

export class HomeStream {
  readonly #send: SendStream;
  readonly #host: StreamHost;
  readonly #window = new ReceiveWindow(LINK.windowBytes);
  readonly #body = new GatheredBytes();
  #bodyBytes = 0;
  #work: StreamWork | null = null;
  #wake: () => void = () => {};
  #hasLastWord = false;
  #closed = false;

  constructor(send: SendStream, host: StreamHost) {
    this.#send = send;
    this.#host = host;
  }

  /** Takes the work on this stream, whose request has so many bytes. */
  take(work: StreamWork, bodyBytes: number): void {
    this.#work = work;
    this.#bodyBytes = bodyBytes;
  }

  accept(): void {
    this.#control({ t: 'ACCEPT', stream: this.#send.id });
  }

  reject(reason: RejectReason): void {
    this.#control({ t: 'REJECT', stream: this.#send.id, reason });
    this.close();
  }

  /** A home keeps no more than the request, so what was received is consumed. */
  receive(bytes: Uint8Array): void {
    if (!this.#window.receive(bytes.length)) return this.reset('FLOW_CONTROL');
    const credit = this.#window.consume(bytes.length);
    if (credit > 0) this.#host.control(encodeWindow(this.#send.id, credit));
    this.#body.append(bytes);
    if (this.#body.length === this.#bodyBytes) this.#work?.asked(this.#body.bytes.toString());
    return undefined;
  }

  grant(credit: number): void {
    this.#send.grant(credit);
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

  /** The last word, where it was not said yet, in place of what was not sent yet. */
  reset(code: ResetCode, message = ''): void {
    this.#send.discard();
    if (!this.#hasLastWord) this.#sayReset(code, message);
    this.close();
  }

  abandon(): void {
    this.#leave();
    this.#work?.lost();
  }

  close(): void {
    if (this.#closed) return;
    this.#leave();
    this.#host.closed();
  }

  /** A failure takes the place of what was not sent yet. */
  async #sendAll(answer: Answer): Promise<void> {
    for (let next = 0; !this.#closed;) {
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
    await this.#host.line.carry(piece.length);
    if (this.#closed) return;
    this.#send.data(piece);
    await this.#send.drained();
  }

  /** HEAD goes out with the first byte: until then another home can take over. */
  #head({ contentType }: Answer): void {
    const about = { status: 200, content_type: contentType };
    this.#send.text(JSON.stringify({ t: 'HEAD', stream: this.#send.id, ...about }));
  }

  #end(ending: Ending): void {
    if (ending.kind === 'failed') {
      this.#send.discard();
      this.#sayReset(ending.code, ending.message);
      return this.#work?.answered();
    }
    const end = { t: 'END', stream: this.#send.id, ok: true, usage: ending.usage };
    this.#send.text(JSON.stringify(end));
    void this.#send.emptied().then(() => this.#ended());
    return undefined;
  }

  /** The last byte has found credit. */
  #ended(): void {
    if (this.#closed) return;
    this.#hasLastWord = true;
    this.#work?.answered();
  }

  #sayReset(code: ResetCode, message: string): void {
    this.#hasLastWord = true;
    this.#control({ t: 'RESET', stream: this.#send.id, code, message });
  }

  #control(message: AgentMessage): void {
    if (!this.#closed) this.#host.control(JSON.stringify(message));
  }

  #leave(): void {
    this.#closed = true;
    this.#send.discard();
    this.#wake();
  }
}
