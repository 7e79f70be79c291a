/** The received part of a streamed answer. */
import type { Tokens } from '../run-facts.js';

export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly finish: string | null;
  readonly tokens: Tokens | null;
  /** An error after the beginning of the answer. */
  readonly error: { readonly message: string; readonly code: string } | null;
  /** The final event has arrived: the answer is complete. */
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

/** Adds one event. Data that is not a chat chunk is ignored. */
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
    // Both names have the same content; servers use one or the other.
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

/** Some servers send the model's reasoning at the beginning of its answer, in `<think>`. */
export function splitThinking({ text, reasoning }: Pick<Heard, 'text' | 'reasoning'>): {
  readonly text: string;
  readonly reasoning: string;
} {
  const found = reasoning === '' ? THINKING.exec(text) : null;
  if (found === null) return { text, reasoning };
  return { text: text.slice(found[0].length), reasoning: found[1] ?? '' };
}
