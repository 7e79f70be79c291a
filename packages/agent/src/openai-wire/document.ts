/** Converts a whole JSON answer into clean OpenAI form. */
import { TextTokens } from '@inference-gateway/shared/openai/tokens';
import type { TokenUsage, ReasoningField } from '@inference-gateway/shared/protocol/messages';
import { LocalFailure } from '../backends/backend.js';
import { asObject, asObjects } from './json.js';
import type { JsonObject } from './json.js';
import { endingOf, wholeCalls, withText } from './tool-calls.js';
import { completeUsage, countMessage, readUsage } from './usage.js';
import { frameOf, requireModel } from './answer-form.js';
import type { AnswerForm } from './answer-form.js';

export interface Document {
  readonly json: JsonObject;
  /** Estimated if the local server counted nothing. */
  readonly usage: TokenUsage;
}

/**
 * Adds fields that the specification requires and a local server omitted. Throws without choices.
 */
export function readDocument(answer: JsonObject, form: AnswerForm): Document {
  const choices = asObjects(answer['choices']);
  if (choices.length === 0) {
    throw new LocalFailure('LOCAL_ERROR', 'the local server answered JSON without choices.');
  }
  requireModel(answer, form);
  const read = choices.map((choice, position) => readChoice(choice, position, form));
  const written = new TextTokens();
  for (const choice of read) countChoice(choice, written);
  const usage = completeUsage(readUsage(answer['usage']), written, form.promptTokens);
  const json = {
    ...answer,
    ...frameOf(answer, form),
    object: form.wire.document,
    model: form.model,
    choices: read,
    usage: { ...asObject(answer['usage']), ...usage },
  };
  return { json, usage };
}

function countChoice({ message, text }: JsonObject, written: TextTokens): void {
  if (typeof text === 'string') written.add(text);
  countMessage(asObject(message) ?? {}, written);
}

function readChoice(choice: JsonObject, position: number, form: AnswerForm): JsonObject {
  const index = typeof choice['index'] === 'number' ? choice['index'] : position;
  if (form.wire.choice === 'text') {
    const text = typeof choice['text'] === 'string' ? choice['text'] : '';
    return { ...choice, index, text, finish_reason: choice['finish_reason'] ?? 'stop' };
  }
  const message = readMessage(choice['message'], form);
  const calls = asObjects(message['tool_calls']).length;
  return { ...choice, index, message, finish_reason: endingOf(choice['finish_reason'], calls) };
}

function readMessage(value: unknown, form: AnswerForm): JsonObject {
  const message: JsonObject = { ...asObject(value), role: 'assistant' };
  nameReasoning(message, form.reasoning);
  const calls = wholeCalls(message['tool_calls']);
  const called = asObject(message['function_call']);
  if (called !== null) message['function_call'] = withText(called, '{}');
  // Beside tool calls null content is OpenAI's own form; alone it would break clients.
  if (calls === undefined) message['content'] ??= '';
  else Object.assign(message, { tool_calls: calls, content: message['content'] ?? null });
  return message;
}

// Servers use two names for the reasoning text, `reasoning_content` (llama-server, SGLang, older
// vLLM) and `reasoning` (Ollama, LM Studio, newer vLLM). It is sent once: clients that read both
// would show it twice.

/** The name that most clients read. */
const USUAL: ReasoningField = 'reasoning_content';

/** Renames the reasoning field of a message or delta for the caller. */
export function nameReasoning(message: JsonObject, field: ReasoningField = USUAL): void {
  const other = field === USUAL ? 'reasoning' : USUAL;
  if (typeof message[other] !== 'string') return;
  // Uses the one that is not empty; servers that write both write the same text.
  if (typeof message[field] !== 'string' || message[field] === '') message[field] = message[other];
  // Not `delete`, which would make the object slow to serialise.
  message[other] = undefined;
}
