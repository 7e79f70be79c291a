/**
 * A call of another coordinator on an agent that is linked here: receives its bytes, checks again
 * whether its caller may use the provider, takes the slot, and passes the answer on.
 */
import { IncomingBody } from '@inference-gateway/shared/protocol/incoming-body';
import type { LinkStream, StreamWork } from '@inference-gateway/shared/protocol/link';
import { NO_COST } from '@inference-gateway/shared/protocol/messages';
import type {
  RejectReason,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import type { FromServing, NodeMessage } from '@inference-gateway/shared/protocol/node-messages';
import { NOT_NOW } from '../core/routing/links.js';
import { capableCandidates, NO_NEEDS, takesWork } from '../core/routing/match.js';
import type { Choice } from '../core/routing/match.js';
import type {
  AnswerHead,
  AnswerPart,
  Exchange,
  ExchangeFailure,
  ExchangeHandler,
  OpenRequest,
} from '../core/routing/links.js';
import type { Budget, Share } from '../core/usage/budget.js';
import type { Reservations } from '../core/usage/quotas.js';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { Registry } from '../links/registry.js';

export type Relay = NodeMessage<'RELAY'>;

export interface RelayedCallParts {
  readonly registry: Registry;
  /** What shares with a quota have left. */
  readonly quotas: Reservations;
  /** Unix ms. */
  readonly now: () => number;
  /** Memory for the bodies of requests, shared with this coordinator's own calls. */
  readonly budget: Budget;
  /** False: this coordinator stops, or what it knows of sharing may be out of date. */
  readonly takesCalls: () => boolean;
  /** It holds this many more slots of the provider, or fewer. */
  readonly onSlots: (relay: Relay, change: number) => void;
  /** Frees the slot that is held for it; null: none is. */
  readonly free: (() => void) | null;
}

/** It runs on the agent. */
interface Started {
  readonly exchange: Exchange;
  readonly choice: Choice;
  readonly slots: number;
}

export class RelayedCall implements StreamWork, ExchangeHandler {
  readonly stream: LinkStream<FromServing>;
  readonly #relay: Relay;
  readonly #parts: RelayedCallParts;
  readonly #incoming: IncomingBody;
  readonly #memory: Share;
  #started: Started | null = null;
  /** Tells that the agent has accepted it, unless its answer says so before. */
  #accepted: NodeJS.Timeout | null = null;
  #isFlushing = false;
  /** Sent with what follows in the same turn of the event loop: a short answer is one frame. */
  #answer: { readonly head: AnswerHead; bytes: Uint8Array | null } | null = null;
  /** Files of the answer so far. */
  #files = 0;
  /** The agent, or its model server, takes no work now. */
  #isRefused = false;
  /** The agent's final message was passed on, or will be. */
  #isOver = false;
  /** Bytes of the answer that wait for credit. */
  #waitingBytes = 0;

  constructor(relay: Relay, stream: LinkStream<FromServing>, parts: RelayedCallParts) {
    this.#relay = relay;
    this.stream = stream;
    this.#parts = parts;
    const bodyBytes = relay.body?.bytes ?? 0;
    this.#memory = parts.budget.open(relay.member_id);
    this.#incoming = new IncomingBody({
      bodyBytes,
      uploads: (relay.parts ?? []).map(({ content_type: contentType, ...file }) => {
        return { ...file, contentType };
      }),
      consumed: (bytes) => stream.consumed(bytes),
      isParsed: false,
    });
    if (this.#memory.tryAdd(bodyBytes) !== null) this.#reject('busy');
    // If the link ends before, nobody waits for it.
    else void this.#incoming.body.then((body) => this.#begin(body)).catch(() => {});
  }

  receive(bytes: Uint8Array): void {
    if (this.stream.hadCredit(bytes.length)) this.#incoming.receive(bytes);
    else this.#fail({ t: 'RESET', code: 'FLOW_CONTROL', message: 'more bytes than credit' });
  }

  /** The link between the coordinators has ended. */
  abandon(): void {
    this.#started?.exchange.cancel('CALLER_GONE');
    this.#release();
  }

  /** The caller wants no more of it. The answer to this is the last message. */
  cancel(code: ResetCode): void {
    this.#answer = null;
    this.#hasBegun();
    if (this.#isOver || this.#started === null) this.stream.say({ t: 'RESET', code: 'CANCELED' });
    // Bytes for which there is no credit any more would hold it up.
    this.stream.out.discard();
    if (this.#started === null) this.#end();
    else this.#started.exchange.cancel(code);
  }

  accepted(): void {
    this.#accepted = setTimeout(() => this.stream.say({ t: 'ACCEPT' }), ACCEPT_GAP_MS);
  }

  progress(): void {
    this.stream.say({ t: 'PROGRESS', phase: 'running' });
  }

  head(head: AnswerHead): void {
    this.#isRefused ||= NOT_NOW.has(head.status);
    this.#hasBegun();
    this.#answer = { head, bytes: null };
    this.#flushSoon();
  }

  part({ contentType, revisedPrompt }: AnswerPart): void {
    if (this.#isOver) return;
    if (this.#files > LINK.maxParts) {
      this.#started?.exchange.cancel('INTERNAL');
      const message = `more than ${LINK.maxParts + 1} files`;
      return this.#fail({ t: 'RESET', code: 'INTERNAL', message });
    }
    this.#flush();
    this.stream.sayInOrder({
      t: 'PART',
      index: this.#files,
      content_type: contentType,
      ...(revisedPrompt !== null && { revised_prompt: revisedPrompt }),
    });
    this.#files += 1;
  }

  data(bytes: Uint8Array): void {
    if (this.#answer !== null && this.#answer.bytes === null) {
      this.#answer.bytes = bytes;
      return;
    }
    this.#flush();
    this.#send(bytes);
  }

  end(cost: AnswerCost): void {
    const answer = this.#answer;
    this.#answer = null;
    this.#settle(cost);
    if (answer !== null) {
      const { status, contentType: content_type } = answer.head;
      const bytes = answer.bytes ?? NO_BYTES;
      if (this.stream.sayWith({ t: 'ANSWER', status, content_type, ...cost }, bytes)) {
        return this.#end();
      }
      this.#sendAnswer(answer);
    }
    this.stream.sayInOrder({ t: 'END', ok: true, ...cost });
    return this.#endInOrder();
  }

  fail(failure: ExchangeFailure): void {
    switch (failure.kind) {
      case 'rejected':
        this.#isRefused ||= failure.reason === 'busy';
        return this.#reject(failure.reason);
      case 'reset': {
        const { code, message, cost } = failure;
        return this.#fail({ t: 'RESET', code, message, ...cost });
      }
      case 'not_accepted':
        return this.#fail({ t: 'RESET', code: 'LOCAL_TIMEOUT', message: 'not accepted in time' });
      case 'upload_unreadable':
        return this.#fail({ t: 'RESET', code: 'INTERNAL', message: 'the upload broke off' });
      case 'disconnected':
        this.stream.say({ t: 'LOST' });
        return this.#end();
    }
  }

  stopped(cost: AnswerCost): void {
    if (this.#isOver) return;
    this.#fail({ t: 'RESET', code: 'CANCELED', ...cost });
  }

  #begin(body: Uint8Array): void {
    if (!this.stream.isOpen) return;
    // In the same turn of the event loop: nobody else takes the slot in between.
    this.#parts.free?.();
    const started = this.#start(body);
    if (typeof started === 'string') return this.#reject(started);
    this.#started = started;
    return this.#parts.onSlots(this.#relay, started.slots);
  }

  /** Once in a turn. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    const answer = this.#answer;
    this.#answer = null;
    if (answer !== null) this.#sendAnswer(answer);
  }

  #hasBegun(): void {
    if (this.#accepted !== null) clearTimeout(this.#accepted);
  }

  #sendAnswer({ head, bytes }: { readonly head: AnswerHead; readonly bytes: Uint8Array | null }) {
    const { status, contentType: content_type } = head;
    this.stream.sayInOrder({ t: 'HEAD', status, content_type });
    if (bytes !== null) this.#send(bytes);
  }

  /** The agent gets new credit when the bytes have left: at most one window waits here. */
  #send(bytes: Uint8Array): void {
    const { out } = this.stream;
    out.data(bytes);
    if (out.queuedBytes === 0) {
      this.#started?.exchange.consumed(bytes.length);
      return;
    }
    if (this.#waitingBytes === 0) void out.emptied().then(this.#sent);
    this.#waitingBytes += bytes.length;
  }

  readonly #sent = (): void => {
    const bytes = this.#waitingBytes;
    this.#waitingBytes = 0;
    this.#started?.exchange.consumed(bytes);
  };

  #reject(reason: RejectReason): void {
    this.stream.say({ t: 'REJECT', reason });
    this.#end();
  }

  #fail(reset: Omit<Extract<FromServing, { t: 'RESET' }>, 'stream'>): void {
    this.#flush();
    this.#settle(reset);
    this.stream.sayInOrder(reset);
    this.#endInOrder();
  }

  /** What is queued is sent before the stream closes. */
  #endInOrder(): void {
    this.#isOver = true;
    void this.stream.out.emptied().then(() => this.#end());
  }

  #end(): void {
    this.stream.close();
    this.#release();
  }

  #release(): void {
    this.#hasBegun();
    this.#parts.free?.();
    this.#settle(NO_COST);
    this.#memory.release();
    this.#incoming.end(new Error('the call has ended'));
  }

  /** Frees what it held here. Its meter is the other coordinator's. */
  #settle({ usage }: AnswerCost): void {
    if (this.#started === null) return;
    const { slots, choice } = this.#started;
    this.#started = null;
    const { registry, quotas, onSlots, now } = this.#parts;
    const { request_id: requestId, member_id: memberId } = this.#relay;
    // Else a call that waits would be offered the same slot again and again.
    registry.report(choice, { kind: this.#isRefused ? 'busy' : 'nothing' });
    onSlots(this.#relay, -slots);
    if (usage === undefined && this.#files === 0) return quotas.release(requestId);
    return quotas.count({
      requestId,
      at: now(),
      memberId,
      // Only the other coordinator knows it.
      keyId: '',
      shareId: choice.grant.shareId,
      promptTokens: usage?.prompt_tokens ?? 0,
      completionTokens: usage?.completion_tokens ?? 0,
      estimated: usage?.estimated ?? false,
      audioMs: 0,
      images: this.#files,
    });
  }

  /** The reason to refuse it, or what runs. */
  #start(body: Uint8Array): RejectReason | Started {
    const { registry, takesCalls } = this.#parts;
    const relay = this.#relay;
    const record = registry.ownRecord(relay.provider_id, relay.link_id);
    // The other coordinator is about to hear that the link has ended.
    if (record === null) return 'busy';
    if (!takesCalls()) return 'draining';
    const service = record.services.find(({ service_id: id }) => id === relay.service_id);
    const model = service?.models.find(({ id }) => id === relay.model);
    if (service === undefined || model === undefined) return 'no_model';
    const caller = { memberId: relay.member_id, scope: 'any' } as const;
    const candidate = record.candidate(service, model, performance.now());
    const [choice] = capableCandidates([candidate], { caller, needs: NO_NEEDS });
    if (choice === undefined || !takesWork(choice)) return 'paused';
    const { maxTokens } = choice.grant;
    // Fitted to another share: the other coordinator sees the same ones in a moment.
    if (maxTokens !== null && maxTokens < (relay.max_tokens ?? Infinity)) return 'busy';
    const request = requestOf(relay, body, this.#incoming.uploads);
    const exchange = relay.asks
      ? registry.ask(choice, request, this)
      : registry.open(choice, request, this);
    if (exchange === null) return 'busy';
    const slots = relay.asks ? 0 : Math.min(relay.sequences, choice.freeSlots);
    return { exchange, choice, slots };
  }
}

function requestOf(relay: Relay, body: Uint8Array, uploads: OpenRequest['uploads']): OpenRequest {
  const { reasoning_field: reasoningField } = relay;
  return {
    job: null,
    endpoint: relay.endpoint,
    model: relay.model,
    caller: relay.caller,
    memberId: relay.member_id,
    maxTokens: relay.max_tokens,
    body,
    uploads,
    sequences: relay.sequences,
    deadlineMs: relay.deadline_ms,
    attempt: relay.attempt,
    requestId: relay.request_id,
    ...(reasoningField !== undefined && { reasoningField }),
  };
}

/** Far less than `NODE_LINK.acceptMarginMs`; most answers are there by then. */
const ACCEPT_GAP_MS = 250;

const NO_BYTES = new Uint8Array(0);
