/** A whole JSON answer as clean OpenAI wire. */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { LocalFailure } from '../backends/backend.js';
import { asObject, asObjects } from './json.js';
import type { JsonObject } from './json.js';
import { addReasoningTwin } from './reasoning.js';
import { NO_USAGE, readUsage } from './usage.js';
import { frameOf } from './wish.js';
import type { Wish } from './wish.js';

export interface Document {
  readonly json: JsonObject;
  /** Null where the local server counted nothing; the document then says zero. */
  readonly usage: TokenUsage | null;
}

/** Fills what the specification promises and a local server left out. Throws without choices. */
export function readDocument(answer: JsonObject, wish: Wish): Document {
  const choices = asObjects(answer['choices']);
  if (choices.length === 0) {
    throw new LocalFailure('LOCAL_ERROR', 'the local server answered JSON without choices.');
  }
  const usage = readUsage(answer['usage']);
  const json = {
    ...answer,
    ...frameOf(answer, wish),
    object: wish.kind === 'chat' ? 'chat.completion' : 'text_completion',
    model: wish.model,
    choices: choices.map((choice, position) => readChoice(choice, position, wish)),
    usage: { ...asObject(answer['usage']), ...(usage ?? NO_USAGE) },
  };
  return { json, usage };
}

function readChoice(choice: JsonObject, position: number, wish: Wish): JsonObject {
  const index = typeof choice['index'] === 'number' ? choice['index'] : position;
  if (wish.kind === 'completion') {
    const text = typeof choice['text'] === 'string' ? choice['text'] : '';
    return { ...choice, index, text, finish_reason: choice['finish_reason'] ?? 'stop' };
  }
  const message = readMessage(choice['message']);
  const ending = asObjects(message['tool_calls']).length > 0 ? 'tool_calls' : 'stop';
  return { ...choice, index, message, finish_reason: choice['finish_reason'] ?? ending };
}

function readMessage(value: unknown): JsonObject {
  const message: JsonObject = { ...asObject(value), role: 'assistant' };
  addReasoningTwin(message);
  // Beside tool calls a null content is OpenAI's own form; alone it would break clients.
  const hasToolCalls = asObjects(message['tool_calls']).length > 0;
  if (hasToolCalls) message['content'] ??= null;
  else message['content'] ??= '';
  return message;
}
