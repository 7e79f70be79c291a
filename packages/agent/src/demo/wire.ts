/** The demo's answers in OpenAI's form, whole and in chunks. */
import type { JsonObject } from '../openai-wire/json.js';
import type { DemoAnswer } from './answer.js';

/** What every answer and chunk of one request has in common. */
export interface Envelope extends JsonObject {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export function chatDocument(said: DemoAnswer, envelope: Envelope): JsonObject {
  const calls = toolCalls(said).map(({ index: _position, ...call }) => call);
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : said.words.join('').trimEnd(),
    ...(said.reasoning !== null && { reasoning_content: said.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: said.finishReason };
  return { ...envelope, object: 'chat.completion', choices: [choice], usage: said.usage };
}

export function completionDocument(said: DemoAnswer, envelope: Envelope): JsonObject {
  const text = said.words.join('').trimEnd();
  const choice = { index: 0, text, logprobs: null, finish_reason: said.finishReason };
  return { ...envelope, object: 'text_completion', choices: [choice], usage: said.usage };
}

export function chatChunks(said: DemoAnswer, envelope: Envelope): JsonObject[] {
  const calls = toolCalls(said);
  const deltas: JsonObject[] = [
    { role: 'assistant', content: '' },
    ...(said.reasoning === null ? [] : [{ reasoning_content: said.reasoning }]),
    ...spoken(said).map((content) => ({ content })),
    ...(calls.length > 0 ? [{ tool_calls: calls }] : []),
  ];
  const chunk = (delta: JsonObject, ending: string | null) => ({
    ...envelope,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: ending }],
  });
  return [...deltas.map((delta) => chunk(delta, null)), chunk({}, said.finishReason)];
}

export function completionChunks(said: DemoAnswer, envelope: Envelope): JsonObject[] {
  const chunk = (text: string, ending: string | null) => ({
    ...envelope,
    object: 'text_completion',
    choices: [{ index: 0, text, finish_reason: ending }],
  });
  return [...spoken(said).map((word) => chunk(word, null)), chunk('', said.finishReason)];
}

/** Streamed and whole answers are the same text: the last word has no space behind it. */
function spoken({ words }: DemoAnswer): string[] {
  return words.map((word, position) => (position === words.length - 1 ? word.trimEnd() : word));
}

function toolCalls({ toolCall }: DemoAnswer): JsonObject[] {
  if (toolCall === null) return [];
  return [{ index: 0, id: `call_${toolCall.name}`, type: 'function', function: toolCall }];
}
