/**
 * Synchronous work as it comes from the link: its body on the way in, its answer on the way out. It
 * ends with its link, because nobody could be given the answer.
 */
import { ReceiveWindow } from '@inference-gateway/shared/protocol/credit';
import { encodeWindow } from '@inference-gateway/shared/protocol/frames';
import type {
  Message,
  RejectReason,
  ResetCode,
  TokenUsage,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { SendStream } from '@inference-gateway/shared/protocol/writer';
import type { MediaPart } from '../backends/backend.js';
import { IncomingBody } from './incoming-body.js';
import type { StopReason, StreamWork, Unaddressed, Work, WorkLink } from './work.js';

/** The coordinator waits 5 s for it. */
const ACCEPT_WITHIN_MS = 20;

export class IncomingWork implements Work, StreamWork {
  readonly open: Message<'OPEN'>;
  readonly request: IncomingBody;
  readonly #link: WorkLink;
  readonly #send: SendStream;
  readonly #abort = new AbortController();
  readonly #window = new ReceiveWindow(LINK.windowBytes);
  #accepting: NodeJS.Timeout | undefined;
  #answered = false;
  #closed = false;
  #parts = 0;
  /** Of the whole answer, once it is said. */
  #usage: TokenUsage | null = null;

  constructor(open: Message<'OPEN'>, send: SendStream, link: WorkLink) {
    this.open = open;
    this.#send = send;
    this.#link = link;
    this.request = new IncomingBody({
      bodyBytes: open.body?.bytes ?? 0,
      uploads: (open.parts ?? []).map(({ content_type: contentType, name, bytes }) => ({
        name,
        contentType,
        bytes,
      })),
      consumed: (bytes) => this.#consumed(bytes),
    });
    const { signal } = this;
    signal.addEventListener('abort', () => this.request.end(signal.reason), { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What comes without credit ends the work: it would pile up here. */
  receive(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.#window.receive(bytes.length)) return this.request.receive(bytes);
    this.fail('FLOW_CONTROL', 'more bytes than credit', null);
    this.stop('canceled');
    return undefined;
  }

  grant(credit: number): void {
    this.#send.grant(credit);
  }

  /**
   * The coordinator stopped the work. It waits for a word back: at once where the run is over
   * already.
   */
  cancel(): void {
    if (this.#answered) this.#reset('CANCELED', '', this.#usage);
    else this.stop('canceled');
  }

  /** Drops what is queued: a run that waits for credit, which will never come, must end as well. */
  stop(reason: StopReason): void {
    this.#send.discard();
    this.#abort.abort(reason);
  }

  abandon(): void {
    this.#closed = true;
    clearTimeout(this.#accepting);
    this.stop('link lost');
  }

  /** HEAD accepts, too: where the answer comes at once, it saves a message. */
  accept(): void {
    this.#accepting = setTimeout(() => this.#control({ t: 'ACCEPT' }), ACCEPT_WITHIN_MS);
  }

  reject(reason: RejectReason): void {
    this.#control({ t: 'REJECT', reason });
    this.#close();
  }

  progress(phase: string): void {
    this.#acceptNow();
    this.#control({ t: 'PROGRESS', phase });
  }

  head(status: number, contentType: string): void {
    clearTimeout(this.#accepting);
    this.#inOrder({ t: 'HEAD', status, content_type: contentType });
  }

  /** The next file of the answer begins. */
  part({ contentType, revisedPrompt }: MediaPart): void {
    this.#inOrder({
      t: 'PART',
      index: this.#parts++,
      content_type: contentType,
      ...(revisedPrompt !== null && { revised_prompt: revisedPrompt }),
    });
  }

  /** Queues a piece of the answer and resolves when there is room for the next. */
  async data(bytes: Uint8Array): Promise<void> {
    if (this.#closed) return;
    this.#send.data(bytes);
    if (this.#send.queuedBytes >= LINK.windowBytes) await this.#send.drained();
  }

  /** The answer is whole. The stream stays open until its last byte has found credit. */
  end(usage: TokenUsage | null): void {
    this.#answered = true;
    this.#usage = usage;
    this.#inOrder(usage === null ? { t: 'END', ok: true } : { t: 'END', ok: true, usage });
    void this.#send.emptied().then(() => this.#close());
  }

  /** There will be no answer, or no more of it. */
  fail(code: ResetCode, message: string, usage: TokenUsage | null = null): void {
    if (!this.#closed) this.#reset(code, message, usage);
  }

  #consumed(bytes: number): void {
    const credit = this.#window.consume(bytes);
    if (credit > 0 && !this.#closed) this.#link.control(encodeWindow(this.open.stream, credit));
  }

  #reset(code: ResetCode, message: string, usage: TokenUsage | null): void {
    this.#send.discard();
    const word = { t: 'RESET', code, message: message.slice(0, 2_000) } as const;
    this.#control(usage === null ? word : { ...word, usage });
    this.#close();
  }

  #control(message: Unaddressed): void {
    if (this.#closed) return;
    this.#link.control(JSON.stringify({ ...message, stream: this.open.stream }));
  }

  #inOrder(message: Unaddressed): void {
    if (this.#closed) return;
    this.#send.text(JSON.stringify({ ...message, stream: this.open.stream }));
  }

  #acceptNow(): void {
    clearTimeout(this.#accepting);
    this.#control({ t: 'ACCEPT' });
  }

  #close(): void {
    clearTimeout(this.#accepting);
    if (this.#closed) return;
    this.#closed = true;
    this.#link.closed();
  }
}
