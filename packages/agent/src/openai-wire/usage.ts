/** Token counts as a local server reports them, fit for metering. */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { asObject } from './json.js';

export const NO_USAGE: TokenUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Non-negative integers, whatever was sent; null where no count was. */
export function readUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  if (![prompt, completion, total].some((tokens) => typeof tokens === 'number')) return null;
  const counts = { prompt_tokens: clamp(prompt), completion_tokens: clamp(completion) };
  const sum = Math.min(counts.prompt_tokens + counts.completion_tokens, Number.MAX_SAFE_INTEGER);
  return { ...counts, total_tokens: typeof total === 'number' ? clamp(total) : sum };
}

function clamp(tokens: unknown): number {
  if (typeof tokens !== 'number' || !(tokens > 0)) return 0;
  return Math.min(Math.trunc(tokens), Number.MAX_SAFE_INTEGER);
}
