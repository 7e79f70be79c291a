/**
 * What the demo models say: a function of the request alone, so that tests and first users can
 * rely on it.
 */
import { asObject, asObjects, asText } from '../openai-wire/json.js';
import type { JsonObject } from '../openai-wire/json.js';

export interface DemoAnswer {
  readonly reasoning: string | null;
  /** Words with the space behind them; streams send one a chunk. */
  readonly words: readonly string[];
  readonly toolCall: { readonly name: string; readonly arguments: string } | null;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
}

export function answerChat(model: string, body: JsonObject): DemoAnswer {
  const messages = asObjects(body['messages']);
  const promptWords = messages.flatMap((message) => wordsOf(textOf(message)));
  const last = messages.at(-1) ?? {};
  const said = textOf(messages.findLast(({ role }) => role === 'user') ?? {});
  const tool = last['role'] === 'user' ? wantedTool(body, said) : null;
  if (model === 'demo-chat' && tool !== null) return callTool(tool, promptWords.length);
  const text = last['role'] === 'tool' ? `The tool said: ${textOf(last)}` : `You said: ${said}`;
  const reasoning = model === 'demo-reasoner' ? reasonAbout(said) : null;
  return speak({ text, reasoning, promptTokens: promptWords.length }, body);
}

export function answerCompletion(body: JsonObject): DemoAnswer {
  const prompt = asText(body['prompt']) ?? '';
  const text = `You wrote: ${prompt}`;
  return speak({ text, reasoning: null, promptTokens: wordsOf(prompt).length }, body);
}

interface Speech {
  readonly text: string;
  readonly reasoning: string | null;
  readonly promptTokens: number;
}

/** A word is a token here, and `max_tokens` counts words. */
function speak({ text, reasoning, promptTokens }: Speech, body: JsonObject): DemoAnswer {
  const all = wordsOf(text);
  const limit = body['max_completion_tokens'] ?? body['max_tokens'];
  const words = typeof limit === 'number' ? all.slice(0, Math.max(0, limit)) : all;
  const finishReason = words.length < all.length ? 'length' : 'stop';
  const usage = count(promptTokens, words.length + wordsOf(reasoning ?? '').length);
  return { reasoning, words, toolCall: null, finishReason, usage };
}

/** The first tool that the message names, as `{name, parameters}`. */
function wantedTool(body: JsonObject, said: string): JsonObject | null {
  const functions = asObjects(body['tools']).map((tool) => asObject(tool['function']) ?? {});
  const named = functions.find(({ name }) => said.includes(asText(name) ?? NO_NAME));
  return named ?? null;
}

/** No message holds it. */
const NO_NAME = '\u0000';

function callTool({ name, parameters }: JsonObject, promptTokens: number): DemoAnswer {
  const properties = asObject(asObject(parameters)?.['properties']) ?? {};
  const filled = Object.entries(properties).map(([key, schema]) => [key, example(schema)]);
  return {
    reasoning: null,
    words: [],
    toolCall: { name: String(name), arguments: JSON.stringify(Object.fromEntries(filled)) },
    finishReason: 'tool_calls',
    usage: count(promptTokens, 1 + filled.length),
  };
}

function example(schema: unknown): unknown {
  const { type, enum: choices } = asObject(schema) ?? {};
  if (Array.isArray(choices)) return choices[0] as unknown;
  if (type === 'number' || type === 'integer') return 1;
  if (type === 'boolean') return true;
  return type === 'string' ? 'demo' : null;
}

function reasonAbout(said: string): string {
  return `The message has ${wordsOf(said).length} words. I repeat it.`;
}

/** The text of a message whose content is a string or a list of parts. */
function textOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return asObjects(content)
    .flatMap(({ text }) => asText(text) ?? [])
    .join(' ');
}

function wordsOf(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function count(prompt: number, completion: number): DemoAnswer['usage'] {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}
