/** Reads the token counts of a local server for metering. */
import type { TextTokens } from '@inference-gateway/shared/openai/tokens';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { asObject, asObjects } from './json.js';
import type { JsonObject } from './json.js';

export const NO_USAGE: TokenUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/**
 * The server's counts, with estimates for missing ones: some servers report none, and some report
 * zeros. `written` counts the text of the answer.
 */
export function completeUsage(
  told: TokenUsage | null,
  written: Pick<TextTokens, 'tokens'>,
  promptTokens: (() => number) | undefined,
): TokenUsage {
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = told ?? {};
  const lacksPrompt = prompt === 0 && promptTokens !== undefined;
  const lacksCompletion = completion === 0 && written.tokens > 0;
  if (told !== null && !lacksPrompt && !lacksCompletion) return told;
  const counts = {
    prompt_tokens: lacksPrompt ? promptTokens() : prompt,
    completion_tokens: lacksCompletion ? written.tokens : completion,
  };
  const sum = counts.prompt_tokens + counts.completion_tokens;
  return { ...counts, total_tokens: sum, estimated: true };
}

/** Counts a model's output in a message or a delta: text, reasoning and tool calls. */
export function countMessage(message: Readonly<JsonObject>, written: TextTokens): void {
  const { content, reasoning_content: thoughts = message['reasoning'], refusal } = message;
  for (const text of [content, thoughts, refusal]) {
    if (typeof text === 'string') written.add(text);
  }
  const calls = message['tool_calls'];
  if (!Array.isArray(calls)) return;
  for (const call of asObjects(calls)) {
    const { name, arguments: text } = asObject(call['function']) ?? {};
    if (typeof name === 'string') written.add(name);
    if (typeof text === 'string') written.add(text);
  }
}

/** Turns any values into non-negative integers; null if there was no count. */
export function readUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  if (![prompt, completion, total].some((tokens) => typeof tokens === 'number')) return null;
  const counts = { prompt_tokens: clamp(prompt), completion_tokens: clamp(completion) };
  const sum = Math.min(counts.prompt_tokens + counts.completion_tokens, Number.MAX_SAFE_INTEGER);
  const read = { ...counts, total_tokens: typeof total === 'number' ? clamp(total) : sum };
  return usage['estimated'] === true ? { ...read, estimated: true } : read;
}

/**
 * The sum of two answers' counts, with their details. `withPrompt` is false if both answer one
 * prompt, which is counted once.
 */
export function addUsage(
  sum: JsonObject | null,
  usage: Readonly<JsonObject>,
  withPrompt: boolean,
): JsonObject {
  const total: JsonObject = { ...sum };
  for (const [name, value] of Object.entries(usage)) {
    if (!withPrompt && name.startsWith('prompt_')) continue;
    total[name] = added(total[name], value);
  }
  const counts = readUsage({ ...total, total_tokens: null });
  return { ...total, ...counts };
}

/** If one is not a number, the first is kept. */
function added(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  const [first, second] = [asObject(one), asObject(other)];
  if (first === null || second === null) return one ?? other;
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries([...names].map((name) => [name, added(first[name], second[name])]));
}

function clamp(tokens: unknown): number {
  if (typeof tokens !== 'number' || !(tokens > 0)) return 0;
  return Math.min(Math.trunc(tokens), Number.MAX_SAFE_INTEGER);
}
