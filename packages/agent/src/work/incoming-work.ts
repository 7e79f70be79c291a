/**
 * Synchronous work from the link: its body comes in, its answer goes out. It ends with its link,
 * because then there is no caller for the answer.
 */
import type { AgentEndStream, AgentWork } from '@inference-gateway/shared/protocol/link';
import { NO_COST } from '@inference-gateway/shared/protocol/messages';
import type {
  Message,
  RejectReason,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import type { MediaPart } from '../backends/backend.js';
import { IncomingBody } from '@inference-gateway/shared/protocol/incoming-body';
import type { StopReason, Work } from './work.js';

/** The coordinator waits 5 s for ACCEPT. */
const ACCEPT_WITHIN_MS = 20;

/** The content type of an answer that is sent whole. */
const DOCUMENT = 'application/json';

type Head = Pick<Message<'HEAD'>, 'status' | 'content_type'>;

export class IncomingWork implements Work, AgentWork {
  readonly open: Message<'OPEN'>;
  readonly stream: AgentEndStream;
  readonly request: IncomingBody;
  readonly #abort = new AbortController();
  #accepting: NodeJS.Timeout | undefined;
  #answered = false;
  #parts = 0;
  /** The head of a document and what came of it, held in case it is short: `#flush`. */
  #short: { readonly head: Head; bytes: Uint8Array | null } | null = null;
  /** Of the whole answer, once it is complete. */
  #cost = NO_COST;

  constructor(open: Message<'OPEN'>, stream: AgentEndStream) {
    this.open = open;
    this.stream = stream;
    this.request = new IncomingBody({
      bodyBytes: open.body?.bytes ?? 0,
      uploads: (open.parts ?? []).map(({ content_type: contentType, name, bytes }) => ({
        name,
        contentType,
        bytes,
      })),
      consumed: (bytes) => stream.consumed(bytes),
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Bytes without credit end the work: they would pile up here. */
  receive(bytes: Uint8Array): void {
    if (!this.stream.isOpen) return;
    if (this.stream.hadCredit(bytes.length)) return this.request.receive(bytes);
    this.fail('FLOW_CONTROL', 'more bytes than credit');
    this.stop('canceled');
    return undefined;
  }

  /**
   * The coordinator stopped the work. It waits for a reply: sent at once if the run has ended
   * already.
   */
  cancel(): void {
    if (this.#answered) this.#reset('CANCELED', '', this.#cost);
    else this.stop('canceled');
  }

  /** Drops queued data: a run that waits for credit, which will never come, must also end. */
  stop(reason: StopReason): void {
    this.stream.out.discard();
    this.#abort.abort(reason);
    this.request.end(this.signal.reason);
  }

  abandon(): void {
    clearTimeout(this.#accepting);
    this.stop('link lost');
  }

  /** HEAD also accepts: if the answer starts at once, this saves a message. */
  accept(): void {
    this.#accepting = setTimeout(() => this.stream.say({ t: 'ACCEPT' }), ACCEPT_WITHIN_MS);
  }

  reject(reason: RejectReason): void {
    this.stream.say({ t: 'REJECT', reason });
    this.#close();
  }

  progress(phase: string): void {
    this.#acceptNow();
    this.stream.say({ t: 'PROGRESS', phase });
  }

  /** Documents are complete when they are sent; events begin long before their end. */
  head(status: number, contentType: string): void {
    clearTimeout(this.#accepting);
    const head = { status, content_type: contentType };
    this.#short = { head, bytes: null };
    if (contentType !== DOCUMENT) this.#flush();
  }

  /** The next file of the answer begins. */
  part({ contentType, revisedPrompt }: MediaPart): void {
    this.stream.sayInOrder({
      t: 'PART',
      index: this.#parts++,
      content_type: contentType,
      ...(revisedPrompt !== null && { revised_prompt: revisedPrompt }),
    });
  }

  /** Queues a piece of the answer and resolves when there is room for the next. */
  data(bytes: Uint8Array): Promise<void> {
    if (this.#short?.bytes === null) {
      this.#short.bytes = bytes;
      return Promise.resolve();
    }
    this.#flush();
    this.#send(bytes);
    return this.stream.out.drained();
  }

  /** The answer is whole. The stream stays open until its last byte has credit. */
  end(cost: AnswerCost): void {
    this.#answered = true;
    this.#cost = cost;
    const { head = null, bytes = null } = this.#short ?? {};
    if (head !== null && bytes !== null) {
      if (this.stream.sayWith({ t: 'ANSWER', ...head, ...cost }, bytes)) return this.#close();
    }
    this.#flush();
    this.stream.sayInOrder({ t: 'END', ok: true, ...cost });
    void this.stream.out.emptied().then(() => this.#close());
    return undefined;
  }

  /** The answer has failed, in whole or in its remaining part. */
  fail(code: ResetCode, message: string, cost = NO_COST): void {
    if (this.stream.isOpen) this.#reset(code, message, cost);
  }

  /** Sends what is held. */
  #flush(): void {
    const short = this.#short;
    this.#short = null;
    if (short === null) return;
    this.stream.sayInOrder({ t: 'HEAD', ...short.head });
    if (short.bytes !== null) this.#send(short.bytes);
  }

  #send(bytes: Uint8Array): void {
    if (this.stream.isOpen) this.stream.out.data(bytes);
  }

  #reset(code: ResetCode, message: string, cost: AnswerCost): void {
    this.stream.out.discard();
    this.stream.say({ t: 'RESET', code, message: message.slice(0, 2_000), ...cost });
    this.#close();
  }

  #acceptNow(): void {
    clearTimeout(this.#accepting);
    this.stream.say({ t: 'ACCEPT' });
  }

  #close(): void {
    clearTimeout(this.#accepting);
    this.stream.close();
  }
}
