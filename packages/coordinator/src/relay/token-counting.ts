/**
 * Counting the tokens of a prompt on a provider, by its model server's own tokenizer. The model
 * does not run, so a count takes no slot, is not metered, and says nothing about the provider's
 * health. Whatever goes wrong, its caller gets an estimate instead.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { TOKEN_COUNTING } from '@inference-gateway/shared/protocol/messages';
import type { Caller } from '../core/access/caller.js';
import { matchBesideSlots, NO_NEEDS } from '../core/routing/match.js';
import type { Links } from '../core/routing/links.js';
import { mostCounted } from '../core/usage/usage-bounds.js';
import { send } from '../run/send.js';
import type { Answerer, Sink, SinkFault, Work } from '../run/work.js';

/** For all providers that are asked together: callers wait for it before they send the prompt. */
export const COUNTING_DEADLINE_MS = 3_000;
/** Providers that are asked, one after the other. */
const MAX_ASKED = 2;
/** Of `{"input_tokens": 12}`. */
const MAX_ANSWER_BYTES = 256;

/** The body of `work` is a chat without media. */
export interface CountingWork extends Work {
  readonly caller: Caller;
}

export interface TokenCount {
  readonly tokens: number;
  /** The public name of the provider that counted. */
  readonly providerName: string;
}

/** Null if no provider counts now. */
export async function countTokens(
  work: CountingWork,
  links: Pick<Links, 'candidates' | 'ask'>,
): Promise<TokenCount | null> {
  const { caller, endpoint, model } = work;
  const needs = { ...NO_NEEDS, features: [TOKEN_COUNTING] };
  const timing = { deadlineMs: COUNTING_DEADLINE_MS, isCallers: false, stream: null };
  const excluded = new Set<string>();
  for (let attempt = 1; attempt <= MAX_ASKED; attempt++) {
    const candidates = links.candidates(ENDPOINTS[endpoint].serviceType, model);
    const choice = matchBesideSlots(candidates, { caller, needs, excluded });
    if (choice === null) return null;
    excluded.add(choice.providerId);
    const sink = new CountSink(mostCounted(work.body));
    // The limit of a share is one of answers.
    const grant = { ...choice.grant, maxTokens: null };
    const sent = send({
      work,
      choice: { ...choice, grant },
      sink,
      attempt,
      job: null,
      spent: null,
      timing,
      open: (request, handler) => links.ask(choice, request, handler),
    });
    const result = await sent?.attempt.result;
    if (result?.kind === 'done') {
      return { tokens: sink.tokens, providerName: choice.providerName };
    }
    const isLate = performance.now() - work.receivedAt >= COUNTING_DEADLINE_MS;
    if (result?.kind === 'gone' || isLate) return null;
  }
  return null;
}

/** Reads the answer of an agent, which is untrusted. */
class CountSink implements Sink {
  readonly committed = false;
  tokens = 0;
  readonly #most: number;
  #text = '';

  constructor(most: number) {
    this.#most = most;
  }

  begin(_answerer: Answerer): void {
    this.#text = '';
  }

  part(): SinkFault {
    return 'it is a file';
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    if (this.#text.length + bytes.length > MAX_ANSWER_BYTES) return 'it is too long for a number';
    this.#text += Buffer.from(bytes).toString('latin1');
    consumed(bytes.length);
    return null;
  }

  end(): SinkFault {
    const count = readCount(this.#text);
    if (count === null || count > this.#most) return 'it is not the number of the tokens';
    this.tokens = count;
    return null;
  }
}

function readCount(text: string): number | null {
  const count = /^\{"input_tokens":([1-9]\d{0,8})\}$/.exec(text)?.[1];
  return count === undefined ? null : Number(count);
}
