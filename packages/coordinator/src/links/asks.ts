/** Questions to agents beside their work (ASK), and their replies, which must come in time. */
import { ASK_LIMITS } from '@inference-gateway/shared/protocol/asks';
import type { Reply, ReplyMessage } from '@inference-gateway/shared/protocol/asks';
import type { ReplyHandler } from '../core/routing/links.js';

interface OpenAsk {
  readonly onReply: ReplyHandler;
  timer: NodeJS.Timeout;
}

export class Asks {
  readonly #maxOpen: number;
  readonly #open = new Map<number, OpenAsk>();
  #last = 0;

  constructor(maxOpen: number) {
    this.#maxOpen = maxOpen;
  }

  /** Sends it with its number; false if too many are without their last reply. */
  ask(send: (id: number) => void, onReply: ReplyHandler): boolean {
    if (this.#open.size >= this.#maxOpen) return false;
    this.#last += 1;
    const id = this.#last;
    this.#open.set(id, { onReply, timer: this.#expect(id, ASK_LIMITS.firstReplyMs) });
    send(id);
    return true;
  }

  /** Late replies are ignored. */
  replied(message: ReplyMessage): void {
    const { ask: id, last } = message;
    const open = this.#open.get(id);
    if (open === undefined) return;
    clearTimeout(open.timer);
    if (last) this.#open.delete(id);
    else open.timer = this.#expect(id, ASK_LIMITS.silenceMs);
    open.onReply(message);
  }

  /** The link has ended. */
  close(): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { onReply, timer } of open) {
      clearTimeout(timer);
      onReply(LINK_LOST);
    }
  }

  #expect(id: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const open = this.#open.get(id);
      this.#open.delete(id);
      open?.onReply(NO_ANSWER);
    }, ms);
  }
}

const LINK_LOST: Reply = refusal('link_lost', 'the link of the agent has ended');
const NO_ANSWER: Reply = refusal('no_answer', 'the agent did not answer in time');

/** A last reply without an answer, as an agent sends it. */
export function refusal(code: string, message: string): Reply {
  return { last: true, refusal: { code, message } };
}
