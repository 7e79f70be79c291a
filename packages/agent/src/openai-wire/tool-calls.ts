/**
 * Tool calls in OpenAI's form: in the pieces of a stream, in a whole answer, and in the history
 * that a caller sends back. Servers and clients omit `index`, `id` or `type`, or write `arguments`
 * as an object instead of text.
 */
import { randomId } from '@inference-gateway/shared/ids';
import { LocalFailure } from '../backends/backend.js';
import { asObject, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';

/** A server that sends too many calls is stopped. */
const MAX_CALLS = 1_024;

/** The calls of one choice of a stream, numbered in the order in which they begin. */
export class StreamedCalls {
  /** By the key of their pieces: the server's own index, or the id. */
  readonly #numbers = new Map<number | string, number>();
  #count = 0;

  /** The number of calls that have begun. */
  get count(): number {
    return this.#count;
  }

  /** The pieces of one chunk, each with the index by which clients join them. */
  read(pieces: unknown): JsonObject[] {
    return asObjects(pieces).map((piece) => {
      const known = this.#numberOf(piece);
      return known === null ? this.#begin(piece) : continued(piece, known);
    });
  }

  /** Null if a new call begins. */
  #numberOf(piece: JsonObject): number | null {
    const { index } = piece;
    const id = asText(piece['id']);
    const known = id === null ? undefined : this.#numbers.get(id);
    if (known !== undefined) return known;
    // Only the first piece of a call has the function's name. (Some servers give each piece a new
    // id.)
    const isNamed = asText(asObject(piece['function'])?.['name']) !== null;
    if (typeof index !== 'number') return isNamed || this.#count === 0 ? null : this.#count - 1;
    // Ollama gives every call the number 0, but a different id.
    return isNamed && id !== null ? null : (this.#numbers.get(index) ?? null);
  }

  #begin(piece: JsonObject): JsonObject {
    const number = this.#count++;
    if (number >= MAX_CALLS) {
      const message = `the local server began more than ${MAX_CALLS} calls of tools.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    const { index, id } = piece;
    if (typeof index === 'number') this.#numbers.set(index, number);
    if (typeof id === 'string' && id !== '') this.#numbers.set(id, number);
    return { ...mended(piece, ''), index: number };
  }
}

/** The first piece had id and type; clients that concatenate texts would repeat them. */
function continued(piece: JsonObject, index: number): JsonObject {
  const { id: _id, type: _type, function: called, ...rest } = piece;
  const target = asObject(called);
  return { ...rest, index, ...(target !== null && { function: withText(target, '') }) };
}

/** The reason why a choice ended. Clients expect `tool_calls` where some servers write `stop`. */
export function endingOf(told: unknown, calls: number): unknown {
  const ending = told ?? 'stop';
  return ending === 'stop' && calls > 0 ? 'tool_calls' : ending;
}

/** The calls of a whole message; undefined if it has none. */
export function wholeCalls(calls: unknown): JsonObject[] | undefined {
  const given = asObjects(calls);
  return given.length === 0 ? undefined : given.map((call) => mended(call, '{}'));
}

/** `nothing` is written if a function is called without arguments. */
function mended(call: JsonObject, nothing: string): JsonObject {
  const called = asObject(call['function']);
  return {
    ...call,
    id: asText(call['id']) ?? `call_${randomId()}`,
    ...(called !== null && {
      type: asText(call['type']) ?? 'function',
      function: withText(called, nothing),
    }),
  };
}

/** `arguments` as text, which clients parse and servers paste into templates. */
export function withText(called: JsonObject, nothing: string): JsonObject {
  const { arguments: given } = called;
  if (typeof given === 'string') return called;
  return { ...called, arguments: asText(JSON.stringify(given ?? undefined)) ?? nothing };
}

/**
 * A request whose assistant turns have tool calls in OpenAI's form. Correct parts are not copied.
 */
export function withCleanHistory(body: JsonObject): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(isAmiss)) return body;
  const clean = messages.map((message: unknown) =>
    isAmiss(message) ? cleanTurn(message) : message,
  );
  return { ...body, messages: clean };
}

function isAmiss(message: unknown): message is JsonObject {
  const turn = asObject(message);
  if (turn === null) return false;
  const { tool_calls: calls, function_call: called } = turn;
  if (lacksText(called)) return true;
  return asObjects(calls).some(
    (call) =>
      asObject(call['function']) !== null && (lacksType(call) || lacksText(call['function'])),
  );
}

function lacksType(call: JsonObject): boolean {
  return asText(call['type']) === null;
}

function lacksText(called: unknown): boolean {
  const target = asObject(called);
  return target !== null && typeof target['arguments'] !== 'string';
}

/** Ids stay unchanged: the tools' own turns refer to them. */
function cleanTurn(turn: JsonObject): JsonObject {
  const { tool_calls: calls, function_call: called } = turn;
  const target = asObject(called);
  return {
    ...turn,
    ...(target !== null && { function_call: withText(target, '{}') }),
    ...(Array.isArray(calls) && { tool_calls: calls.map(cleanCall) }),
  };
}

function cleanCall(value: unknown): unknown {
  const call = asObject(value);
  const called = asObject(call?.['function']);
  if (call === null || called === null) return value;
  return { ...call, type: asText(call['type']) ?? 'function', function: withText(called, '{}') };
}
