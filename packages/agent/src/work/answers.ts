/** Answers the coordinator's questions beside its work (ASK), within limits, by their topic. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { ASK_LIMITS, ASK_REFUSALS } from '@inference-gateway/shared/protocol/asks';
import type { Question, Reply } from '@inference-gateway/shared/protocol/asks';

type Body = Readonly<Record<string, unknown>>;

/** Yields what is to be known before the end, and returns the last part of the answer. */
export type Answerer = (asked: Pick<Question, 'args' | 'by'>) => AsyncGenerator<Body, Body, void>;

/** The question has no answer; the message is for the member who asked. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}

export class Answers {
  readonly #topics: ReadonlyMap<string, Answerer>;
  readonly #logger: Logger;
  readonly #pace = new Pace(ASK_LIMITS.maxPerMinute);
  #open = 0;

  constructor(topics: ReadonlyMap<string, Answerer>, logger: Logger) {
    this.#topics = topics;
    this.#logger = logger;
  }

  asked({ topic, args, by }: Question, reply: (reply: Reply) => void): void {
    const answerer = this.#topics.get(topic);
    if (!this.#pace.take() || this.#open >= ASK_LIMITS.maxOpen) {
      return refuse(reply, ASK_REFUSALS.busy, 'the agent is asked too much. Try again later.');
    }
    if (answerer === undefined) {
      const message = 'this agent does not know the question: it is of another version.';
      return refuse(reply, ASK_REFUSALS.unknown, message);
    }
    if (Buffer.byteLength(JSON.stringify(args)) > ASK_LIMITS.maxArgsBytes) {
      const message = `its arguments have more than ${ASK_LIMITS.maxArgsBytes} bytes.`;
      return refuse(reply, ASK_REFUSALS.invalid, message);
    }
    this.#open += 1;
    void this.#answer(answerer({ args, by }), reply).finally(() => (this.#open -= 1));
    return undefined;
  }

  /** Goes on if the link ends: what was begun is finished without it. */
  async #answer(parts: ReturnType<Answerer>, reply: (reply: Reply) => void): Promise<void> {
    const alive = setInterval(() => reply({ last: false }), ASK_LIMITS.replyEveryMs).unref();
    try {
      for (;;) {
        const { done, value } = await parts.next();
        reply({ last: done === true, body: value });
        if (done === true) return;
      }
    } catch (error) {
      if (error instanceof Refusal) return refuse(reply, error.code, error.message);
      this.#logger.error({ err: error }, 'a question of the coordinator failed');
      refuse(reply, ASK_REFUSALS.failed, 'the agent could not answer: see its log.');
    } finally {
      clearInterval(alive);
    }
  }
}

function refuse(reply: (reply: Reply) => void, code: string, message: string): void {
  reply({ last: true, refusal: { code, message } });
}

const MINUTE_MS = 60_000;

/** At most so many within a minute. */
export class Pace {
  readonly #most: number;
  #taken: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** False: wait. What is refused does not count. */
  take(): boolean {
    const now = performance.now();
    this.#taken = this.#taken.filter((at) => now - at < MINUTE_MS);
    if (this.#taken.length >= this.#most) return false;
    this.#taken.push(now);
    return true;
  }
}
