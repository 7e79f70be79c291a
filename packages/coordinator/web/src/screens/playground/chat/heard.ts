/** What has been heard of a streamed answer so far. */
import type { Tokens } from '../run-facts.js';

export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly finish: string | null;
  readonly tokens: Tokens | null;
  /** What went wrong after the answer had begun. */
  readonly error: { readonly message: string; readonly code: string } | null;
  /** The last event came: nothing is missing. */
  readonly isDone: boolean;
}

export const NOTHING_HEARD: Heard = {
  text: '',
  reasoning: '',
  finish: null,
  tokens: null,
  error: null,
  isDone: false,
};

/** With one more event. What is no chunk of a chat changes nothing. */
export function hear(heard: Heard, data: string): Heard {
  if (data === '[DONE]') return { ...heard, isDone: true };
  const chunk = parse(data);
  if (chunk === null) return heard;
  if (chunk.error) return { ...heard, error: errorOf(chunk.error) };
  const choice = chunk.choices?.[0];
  const { content, reasoning_content: reasoning, reasoning: twin } = choice?.delta ?? {};
  return {
    ...heard,
    text: heard.text + (content ?? ''),
    // The two names carry the same words.
    reasoning: heard.reasoning + (reasoning ?? twin ?? ''),
    finish: choice?.finish_reason ?? heard.finish,
    tokens: chunk.usage ? tokensOf(chunk.usage) : heard.tokens,
  };
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly reasoning?: string | null;
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
  readonly error?: { readonly message?: unknown; readonly code?: unknown } | null;
}

function parse(data: string): Chunk | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function tokensOf({
  prompt_tokens = 0,
  completion_tokens = 0,
}: NonNullable<Chunk['usage']>): Tokens {
  return { prompt: prompt_tokens, completion: completion_tokens };
}

function errorOf({ message, code }: NonNullable<Chunk['error']>): NonNullable<Heard['error']> {
  return {
    message: typeof message === 'string' ? message : 'The provider failed while it answered.',
    code: typeof code === 'string' ? code : 'provider_error',
  };
}

const THINKING = /^\s*<think>\n?([\s\S]*?)(?:<\/think>\s*|$)/;

/** Some servers leave the model's thinking at the head of its answer. */
export function splitThinking({ text, reasoning }: Pick<Heard, 'text' | 'reasoning'>): {
  readonly text: string;
  readonly reasoning: string;
} {
  const found = reasoning === '' ? THINKING.exec(text) : null;
  if (found === null) return { text, reasoning };
  return { text: text.slice(found[0].length), reasoning: found[1] ?? '' };
}
