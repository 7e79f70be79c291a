/** Chats as a home hears and answers them: the request's fields that count, and OpenAI's shapes. */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import * as z from 'zod';

const chat = z.object({
  stream: z.boolean().nullish(),
  max_tokens: z.int().min(1).nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});

export interface ChatWish {
  readonly isStream: boolean;
  readonly includeUsage: boolean;
  readonly maxTokens: number;
}

/** Throws if the body is no chat: only the coordinator sends it, and has read it before. */
export function readWish(body: string): ChatWish {
  const read = chat.parse(JSON.parse(body));
  return {
    isStream: read.stream === true,
    includeUsage: read.stream_options?.include_usage === true,
    maxTokens: read.max_tokens ?? Number.MAX_SAFE_INTEGER,
  };
}

const CREATED = 1_700_000_000;

export interface Told {
  readonly id: string;
  readonly model: string;
}

export function document({ id, model }: Told, content: string, usage: TokenUsage): string {
  const message = { role: 'assistant', content };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  return JSON.stringify({ id, object: 'chat.completion', created: CREATED, model, choices, usage });
}

/** One event with the stream's next token; the first one has the role. */
export function tokenEvent(told: Told, index: number, content: string): string {
  const delta = index === 0 ? { role: 'assistant', content } : { content };
  return event(told, { choices: [{ index: 0, delta, finish_reason: null }] });
}

export function lastEvent(told: Told): string {
  return event(told, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
}

export function usageEvent(told: Told, usage: TokenUsage): string {
  return event(told, { choices: [], usage });
}

function event({ id, model }: Told, rest: object): string {
  const about = { id, object: 'chat.completion.chunk', created: CREATED, model };
  return `data: ${JSON.stringify({ ...about, ...rest })}\n\n`;
}
