/**
 * One piece of work on an agent, from OPEN to the agent's final message (END, RESET or REJECT).
 * Until then it stays in its link's table and keeps its slot; an unconfirmed stop frees the slot.
 */
import { ProtocolViolation } from '@inference-gateway/shared/protocol/link';
import type { LinkStream, StreamWork } from '@inference-gateway/shared/protocol/link';
import { NO_COST, costOf } from '@inference-gateway/shared/protocol/messages';
import type {
  AgentMessage,
  CoordinatorMessage,
  Message,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import type { NodeMessage } from '@inference-gateway/shared/protocol/node-messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type {
  Exchange,
  ExchangeFailure,
  ExchangeHandler,
  OpenRequest,
  ResultVerdict,
  Upload,
} from '../core/routing/links.js';
import type { SlotUse } from './slot-counts.js';

/** What a stream may do to its link. */
export interface StreamHost {
  send(message: CoordinatorMessage): void;
  /** The agent has sent its final message: the slot is free. */
  release(exchange: AgentStream): void;
  /**
   * The agent did not confirm the stop in time: the slot is free, but the final message is still
   * due.
   */
  unconfirmed(exchange: AgentStream, freesSlot: boolean): void;
  /** The agent sent more bytes than its credit allows. */
  overrun(): void;
  readonly acceptMs: number;
}

export type StreamMessage = Extract<AgentMessage, { stream: number }>;

/**
 * `opening` until ACCEPT, `running`, `answering` after HEAD, `stopping` once the answer is no
 * longer wanted.
 */
type Phase = 'opening' | 'running' | 'answering' | 'stopping';

/**
 * The slot that a stream holds of its service. `none`: its work is already done. `unconfirmed`:
 * released, because the agent did not confirm its end in time.
 */
type SlotHold = 'held' | 'none' | 'unconfirmed';

interface Opened {
  readonly use: SlotUse;
  readonly handler: ExchangeHandler;
}

/** A call for an agent of another coordinator goes there first. */
type ToAgent = CoordinatorMessage | NodeMessage<'RELAY'>;

export class AgentStream implements Exchange, StreamWork {
  readonly stream: LinkStream<ToAgent>;
  readonly use: SlotUse;
  slot: SlotHold = 'held';
  readonly #host: StreamHost;
  readonly #handler: ExchangeHandler;
  #phase: Phase = 'opening';
  /** OPEN waits for the socket with the body: until it has left, the agent knows of nothing. */
  #isQueued = false;
  /** Bytes of the answer that came after it was canceled. */
  #lateBytes = 0;
  #timer: NodeJS.Timeout;

  constructor(host: StreamHost, stream: LinkStream<ToAgent>, opened: Opened) {
    this.stream = stream;
    this.use = opened.use;
    this.#host = host;
    this.#handler = opened.handler;
    this.#timer = setTimeout(() => this.#notAccepted(), host.acceptMs);
  }

  /** Sends OPEN and the body, then the files as fast as the agent accepts them. */
  start(
    open: Message<'OPEN'> | NodeMessage<'RELAY'>,
    { body, uploads }: Pick<OpenRequest, 'body' | 'uploads'>,
  ): void {
    if (!this.stream.sayWith(open, body)) {
      this.#isQueued = true;
      this.stream.out.text(JSON.stringify(open));
      this.stream.out.data(body);
    }
    if (uploads.length > 0) void this.#sendUploads(uploads);
  }

  /** The answer of earlier work comes on this stream; `isDone` if it no longer takes a slot. */
  resume(isDone: boolean): void {
    clearTimeout(this.#timer);
    this.#phase = 'running';
    if (isDone) this.slot = 'none';
  }

  acknowledge(claimId: string, verdict: ResultVerdict): void {
    this.#host.send({ t: 'RESULT_ACK', claim_id: claimId, verdict });
  }

  consumed(bytes: number): void {
    if (this.#phase !== 'stopping') this.stream.consumed(bytes);
  }

  cancel(code: ResetCode): void {
    if (this.#phase === 'stopping') return;
    this.#phase = 'stopping';
    clearTimeout(this.#timer);
    this.stream.out.discard();
    if (this.#isQueued && !this.stream.out.hasBegun) {
      this.#host.release(this);
      queueMicrotask(() => this.#stopped(NO_COST));
      return;
    }
    this.#host.send({ t: 'RESET', stream: this.stream.id, code });
    this.#timer = setTimeout(() => this.#giveUp(), LINK.stopConfirmMs);
  }

  /** `bytes` are those of the message's own frame. */
  told(message: StreamMessage, bytes: Uint8Array): void {
    switch (message.t) {
      case 'ACCEPT':
        return this.#accepted();
      case 'REJECT':
        return this.#fail({ kind: 'rejected', reason: message.reason }, NO_COST);
      case 'PROGRESS':
        if (this.#phase !== 'stopping') this.#handler.progress();
        return undefined;
      case 'HEAD':
        return this.#head({ status: message.status, contentType: message.content_type });
      case 'PART':
        return this.#part(message);
      case 'END':
        return this.#ended(message.ok, message);
      case 'ANSWER': {
        const { status, content_type: contentType } = message;
        this.#head({ status, contentType });
        if (bytes.length > 0) this.receive(bytes);
        // An answer that was refused meanwhile has its end all the same.
        return this.#ended(true, message);
      }
      case 'RESET': {
        const { code, message: text = '' } = message;
        const cost = costOf(message);
        return this.#fail({ kind: 'reset', code, message: text, cost }, cost);
      }
    }
  }

  receive(bytes: Uint8Array): void {
    if (this.#phase === 'stopping') {
      this.#lateBytes += bytes.length;
      return;
    }
    if (this.#phase !== 'answering') {
      throw new ProtocolViolation(`DATA before HEAD on stream ${this.stream.id}`);
    }
    if (this.stream.hadCredit(bytes.length)) {
      this.#handler.data(bytes);
      return;
    }
    this.cancel('FLOW_CONTROL');
    const message = 'more bytes than credit';
    this.#handler.fail({ kind: 'reset', code: 'FLOW_CONTROL', message });
    this.#host.overrun();
  }

  /** The link is gone. */
  abandon(): void {
    const listening = this.#phase !== 'stopping';
    this.#close();
    if (listening) this.#handler.fail({ kind: 'disconnected' });
    else this.#stopped(NO_COST);
  }

  #accepted(): void {
    if (this.#phase !== 'opening') return;
    clearTimeout(this.#timer);
    this.#phase = 'running';
    this.#handler.accepted();
  }

  #head(head: { status: number; contentType: string }): void {
    if (this.#phase === 'stopping') return;
    if (this.#phase === 'answering') {
      throw new ProtocolViolation(`a second HEAD on stream ${this.stream.id}`);
    }
    this.#accepted();
    this.#phase = 'answering';
    this.#handler.head(head);
  }

  #part(message: Extract<AgentMessage, { t: 'PART' }>): void {
    if (this.#phase === 'stopping') return;
    if (this.#phase !== 'answering') {
      throw new ProtocolViolation(`PART before HEAD on stream ${this.stream.id}`);
    }
    const { content_type: contentType, revised_prompt: revisedPrompt = null } = message;
    this.#handler.part({ contentType, revisedPrompt });
  }

  #ended(isWhole: boolean, told: AnswerCost): void {
    const cost = costOf(told);
    if (!isWhole) {
      const message = 'ended unfinished';
      return this.#fail({ kind: 'reset', code: 'INTERNAL', message, cost }, cost);
    }
    if (this.#phase === 'opening' || this.#phase === 'running') {
      throw new ProtocolViolation(`END before HEAD on stream ${this.stream.id}`);
    }
    const listening = this.#phase !== 'stopping';
    this.#close();
    this.#host.release(this);
    if (listening) this.#handler.end(cost);
    else this.#stopped(cost);
  }

  async #sendUploads(uploads: readonly Upload[]): Promise<void> {
    try {
      for (const upload of uploads) await this.#sendUpload(upload);
    } catch (error) {
      if (this.#phase === 'stopping') return;
      this.cancel('INTERNAL');
      this.#handler.fail({ kind: 'upload_unreadable', cause: error });
    }
  }

  /** Stops reading if the upload is no longer needed. */
  async #sendUpload(upload: Upload): Promise<void> {
    for await (const piece of upload.read()) {
      if (this.#phase === 'stopping') return;
      this.stream.out.data(piece);
      await this.stream.out.drained();
    }
  }

  #fail(failure: ExchangeFailure, cost: AnswerCost): void {
    const listening = this.#phase !== 'stopping';
    this.#close();
    this.#host.release(this);
    if (listening) this.#handler.fail(failure);
    else this.#stopped(cost);
  }

  #stopped(cost: AnswerCost): void {
    this.#handler.stopped(cost, this.#lateBytes);
  }

  #notAccepted(): void {
    this.cancel('DEADLINE');
    this.#handler.fail({ kind: 'not_accepted' });
  }

  /**
   * The stream stays known: the late message of a machine that hung is not a protocol violation.
   */
  #giveUp(): void {
    const held = this.slot;
    this.slot = 'unconfirmed';
    this.#host.unconfirmed(this, held === 'held');
    this.#stopped(NO_COST);
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#phase = 'stopping';
    this.stream.out.discard();
  }
}
