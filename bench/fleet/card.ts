/** A home's card: answers chats at its own speed, and fails as often as its plan says. */
import type { ResetCode, TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { Answer } from './answer.js';
import { document, lastEvent, readWish, tokenEvent, usageEvent } from './chat.js';
import type { ChatWish, Told } from './chat.js';
import type { CardPlan } from './home-plan.js';
import type { Random } from './random.js';

/** The text of the token at this place of an answer. */
export type Tongue = (index: number) => string;

const PROMPT_TOKENS = 10;
/** How agents tell that their local server failed; the last is its answer 500. */
const FAILURES: readonly [ResetCode, ...ResetCode[]] = [
  'LOCAL_UNREACHABLE',
  'LOCAL_TIMEOUT',
  'LOCAL_ERROR',
];

export interface CardRun {
  /** Nothing more is added to the answer. */
  stop(): void;
}

export class Card {
  readonly #plan: CardPlan;
  readonly #random: Random;
  readonly #tongue: Tongue;

  constructor(plan: CardPlan, random: Random, tongue: Tongue) {
    this.#plan = plan;
    this.#random = random;
    this.#tongue = tongue;
  }

  /** Begins to answer; the body is that of a chat. */
  run(told: Told, body: string, answer: Answer): CardRun {
    const wish = readWish(body);
    const tokens = Math.min(this.#plan.tokens, wish.maxTokens);
    const failsAt = this.#random.chance(this.#plan.failingShare) ? this.#failsAt(tokens) : null;
    const work = { told, wish, tokens, failsAt, answer };
    return wish.isStream ? this.#stream(work) : this.#whole(work);
  }

  /** Before the first token, or after some. */
  #failsAt(tokens: number): number {
    return this.#random.chance(0.5) ? 0 : 1 + this.#random.below(tokens);
  }

  /** A token at a time; one that comes late does not delay the ones after it. */
  #stream({ told, wish, tokens, failsAt, answer }: CardWork): CardRun {
    answer.contentType = 'text/event-stream';
    const startedAt = performance.now();
    let next = 0;
    const step = (): void => {
      do {
        if (next === failsAt) return this.#fail(answer);
        if (next === tokens) return endStream(told, wish, { tokens, answer });
        answer.add(tokenEvent(told, next, this.#tongue(next)));
        next += 1;
      } while (performance.now() - startedAt >= this.#dueMs(next));
      timer = setTimeout(step, startedAt + this.#dueMs(next) - performance.now());
      return undefined;
    };
    let timer = setTimeout(step, this.#plan.firstByteMs);
    return { stop: () => clearTimeout(timer) };
  }

  /**
   * Generates the first token when the request arrives and the others when the answer is sent, so
   * that tokens that contain the time show both.
   */
  #whole({ told, tokens, failsAt, answer }: CardWork): CardRun {
    const first = this.#tongue(0);
    const tell = (): void => {
      if (failsAt !== null) return this.#fail(answer);
      const others = Array.from({ length: tokens - 1 }, (_, i) => this.#tongue(i + 1));
      const usage = usageOf(tokens);
      answer.add(document(told, [first, ...others].join(''), usage));
      return answer.end({ kind: 'whole', usage });
    };
    const timer = setTimeout(tell, this.#dueMs(failsAt ?? tokens));
    return { stop: () => clearTimeout(timer) };
  }

  #dueMs(tokens: number): number {
    return this.#plan.firstByteMs + (tokens * 1_000) / this.#plan.tokensPerSecond;
  }

  #fail(answer: Answer): void {
    const code = this.#random.pick(FAILURES);
    answer.end({ kind: 'failed', code, message: 'the simulated card failed' });
  }
}

interface CardWork {
  readonly told: Told;
  readonly wish: ChatWish;
  readonly tokens: number;
  readonly failsAt: number | null;
  readonly answer: Answer;
}

function endStream(told: Told, wish: ChatWish, { tokens, answer }: StreamEnd): void {
  const usage = usageOf(tokens);
  answer.add(lastEvent(told));
  if (wish.includeUsage) answer.add(usageEvent(told, usage));
  answer.end({ kind: 'whole', usage });
}

type StreamEnd = Pick<CardWork, 'tokens' | 'answer'>;

function usageOf(tokens: number): TokenUsage {
  return {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: tokens,
    total_tokens: PROMPT_TOKENS + tokens,
  };
}
