/**
 * A stream told as one document, for local servers that stream whatever was asked, and for those
 * that are asked to stream so that they notice when the caller leaves. The document is the one
 * that a plain call would have been answered with.
 */
import { asObject, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';

/** Collects chunks that a `ChunkReader` has cleaned. */
export class ChunkCollector {
  #frame: JsonObject = {};
  readonly #choices = new Map<unknown, JsonObject>();

  add(chunk: JsonObject): void {
    const { choices, usage, ...frame } = chunk;
    // Chunk after chunk the frame is the same few fields.
    Object.assign(this.#frame, frame);
    const counts = asObject(usage);
    if (counts !== null) this.#frame['usage'] = { ...asObject(this.#frame['usage']), ...counts };
    for (const choice of asObjects(choices)) this.#choice(choice);
  }

  /** The answer so far; `readDocument` brings it into form. */
  get answer(): JsonObject {
    return { ...this.#frame, choices: [...this.#choices.values()] };
  }

  #choice(read: JsonObject): void {
    const { index, delta, text, finish_reason: ending, logprobs, ...rest } = read;
    const choice = this.#choices.get(index) ?? { index, finish_reason: null };
    this.#choices.set(index, choice);
    Object.assign(choice, rest);
    choice['finish_reason'] = ending ?? choice['finish_reason'];
    if (typeof text === 'string') append(choice, 'text', text);
    if (logprobs !== undefined) choice['logprobs'] = withLogprobs(choice['logprobs'], logprobs);
    const piece = asObject(delta);
    if (piece !== null) choice['message'] = withDelta(asObject(choice['message']) ?? {}, piece);
  }
}

/** Each chunk has those of its own tokens, in lists: `content`, or `tokens` and its like. */
function withLogprobs(before: unknown, piece: unknown): unknown {
  const [known, added] = [asObject(before), asObject(piece)];
  if (known === null || added === null) return added ?? before ?? null;
  for (const [key, value] of Object.entries(added)) {
    const list = known[key];
    if (Array.isArray(list) && Array.isArray(value)) for (const one of value) list.push(one);
    else known[key] = value ?? list;
  }
  return known;
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
