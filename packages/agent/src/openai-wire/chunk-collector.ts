/** A stream told as one document, for local servers that stream whatever was asked. */
import { asObject, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';

/** Collects chunks that a `ChunkReader` has cleaned. */
export class ChunkCollector {
  #frame: JsonObject = {};
  readonly #choices = new Map<unknown, JsonObject>();

  add(chunk: JsonObject): void {
    const { choices, ...frame } = chunk;
    this.#frame = { ...this.#frame, ...frame };
    for (const choice of asObjects(choices)) this.#choice(choice);
  }

  /** The answer so far; `readDocument` brings it into form. */
  get answer(): JsonObject {
    return { ...this.#frame, choices: [...this.#choices.values()] };
  }

  #choice({ index, delta, text, finish_reason: ending, ...rest }: JsonObject): void {
    const choice = this.#choices.get(index) ?? { index, finish_reason: null };
    this.#choices.set(index, choice);
    Object.assign(choice, rest);
    choice['finish_reason'] = ending ?? choice['finish_reason'];
    if (typeof text === 'string') append(choice, 'text', text);
    const piece = asObject(delta);
    if (piece !== null) choice['message'] = withDelta(asObject(choice['message']) ?? {}, piece);
  }
}

/** The fields whose pieces follow one another; of the others the last one counts. */
const JOINED: ReadonlySet<string> = new Set([
  'content',
  'reasoning',
  'reasoning_content',
  'refusal',
]);

function withDelta(message: JsonObject, delta: JsonObject): JsonObject {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'tool_calls') message[key] = withToolCalls(asObjects(message[key]), value);
    else if (JOINED.has(key) && typeof value === 'string') append(message, key, value);
    else message[key] ??= value;
  }
  // OpenAI's form where the model only calls tools.
  if (message['content'] === '' && 'tool_calls' in message) message['content'] = null;
  return message;
}

/** Merges pieces of tool calls by their index, which a document does not show. */
function withToolCalls(calls: JsonObject[], pieces: unknown): JsonObject[] {
  for (const { index, ...piece } of asObjects(pieces)) {
    const position = typeof index === 'number' && index < calls.length ? index : calls.length;
    const call = calls[position] ?? {};
    calls[position] = call;
    const { function: called, ...rest } = piece;
    for (const [key, value] of Object.entries(rest)) call[key] = asText(value) ?? call[key];
    const target = asObject(call['function']) ?? { name: '', arguments: '' };
    const { name, arguments: text } = asObject(called) ?? {};
    target['name'] = asText(name) ?? target['name'];
    if (typeof text === 'string') append(target, 'arguments', text);
    call['function'] = target;
  }
  return calls;
}

function append(target: JsonObject, key: string, text: string): void {
  const before = target[key];
  target[key] = typeof before === 'string' ? before + text : text;
}
