/**
 * A whole answer told as a stream, for local servers that answer JSON whatever was asked
 * (GPT4All).
 */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { Document } from './document.js';
import { asObject, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';
import { eventOf } from './stream-events.js';
import type { Wish } from './wish.js';

/** The longest text of one chunk: readers of the stream limit its lines. */
const MAX_PIECE_CHARACTERS = 64 * 1024;

/** `document` is in clean form already. */
export async function* documentEvents(
  document: Document,
  wish: Wish,
): AsyncGenerator<string, TokenUsage | null, void> {
  const { choices, usage, ...rest } = document.json;
  const object = wish.kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
  const frame = { ...rest, object };
  for (const choice of asObjects(choices)) {
    const { index, logprobs: all = null } = choice;
    const told = wish.kind === 'chat' ? chatPieces(choice) : textPieces(choice);
    // Clients add them up: they go out once.
    const bearer = told.find(isText) ?? told.at(-1);
    for (const piece of told) {
      const logprobs = piece === bearer ? all : null;
      yield eventOf({ ...frame, choices: [{ index, logprobs, finish_reason: null, ...piece }] });
    }
  }
  if (wish.usage) yield eventOf({ ...frame, choices: [], usage });
  return document.usage;
}

function chatPieces(choice: JsonObject): JsonObject[] {
  const message = asObject(choice['message']) ?? {};
  const {
    role,
    content,
    reasoning,
    reasoning_content: usual,
    tool_calls: calls,
    ...rest
  } = message;
  const deltas: JsonObject[] = [{ role, content: '', ...rest }];
  for (const part of pieces(reasoning)) deltas.push({ reasoning: part });
  for (const part of pieces(usual)) deltas.push({ reasoning_content: part });
  for (const part of pieces(content)) deltas.push({ content: part });
  const toolCalls = asObjects(calls).map((call, index) => ({ ...call, index }));
  if (toolCalls.length > 0) deltas.push({ tool_calls: toolCalls });
  const last = { delta: {}, finish_reason: choice['finish_reason'] };
  return [...deltas.map((delta) => ({ delta })), last];
}

function textPieces(choice: JsonObject): JsonObject[] {
  const last = { text: '', finish_reason: choice['finish_reason'] };
  return [...pieces(choice['text']).map((text) => ({ text })), last];
}

function isText({ text, delta }: JsonObject): boolean {
  return asText(text ?? asObject(delta)?.['content']) !== null;
}

/** Cuts between characters, never between the halves of one outside the basic plane. */
function pieces(value: unknown): string[] {
  const text = asText(value) ?? '';
  const cut: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_PIECE_CHARACTERS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    cut.push(text.slice(start, end));
    start = end;
  }
  return cut;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
