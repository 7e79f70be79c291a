/**
 * One local server's stream, event by event, as clean OpenAI chunks. It knows what the stream has
 * promised: a stream is whole when every choice that it began has a `finish_reason`, or when it
 * said `[DONE]`.
 */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { LocalFailure } from '../backends/backend.js';
import { asObject, asObjects, parseJson } from './json.js';
import type { JsonObject } from './json.js';
import { addReasoningTwin } from './reasoning.js';
import { readReportedError } from './reported-error.js';
import type { SseEvent } from './sse-parser.js';
import { readUsage } from './usage.js';
import { frameOf } from './wish.js';
import { withoutPaths } from './without-paths.js';
import type { Frame, Wish } from './wish.js';

/** What a request may ask for (`n`) is far below; a server that invents choices is stopped. */
const MAX_CHOICES = 1_024;

export class ChunkReader {
  readonly #wish: Wish;
  readonly #object: string;
  #frame: Frame | null = null;
  #usage: TokenUsage | null = null;
  /** The usage chunk is held back: it goes out once and last, even where a server repeats it. */
  #usageChunk: JsonObject | null = null;
  /** Each choice seen so far, with whether it has ended. */
  readonly #choices = new Map<number, boolean>();
  #done = false;

  constructor(wish: Wish) {
    this.#wish = wish;
    this.#object = wish.kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
  }

  /** `[DONE]` was read: nothing that follows counts. */
  get done(): boolean {
    return this.#done;
  }

  get usage(): TokenUsage | null {
    return this.#usage;
  }

  /** The chunk to pass on, or null where the event holds none. Throws a `LocalFailure`. */
  read(event: SseEvent): JsonObject | null {
    if (this.#done) return null;
    if (event.kind === 'error') throw failed(parseJson(event.data) ?? event.data);
    if (event.data.trim() === '[DONE]') {
      this.#done = true;
      return null;
    }
    const chunk = asObject(parseJson(event.data));
    if (chunk === null) throw new LocalFailure('LOCAL_ERROR', NOT_JSON);
    if (!Array.isArray(chunk['choices']) || chunk['error']) rejectErrors(chunk);
    return this.#normalise(chunk);
  }

  /**
   * The end of the stream: the usage chunk that is still owed. Throws where the answer is not
   * whole.
   */
  finish(): JsonObject | null {
    if (this.#choices.size === 0) throw new LocalFailure('LOCAL_ERROR', EMPTY);
    const isWhole = this.#done || [...this.#choices.values()].every((ended) => ended);
    if (!isWhole) throw new LocalFailure('LOCAL_ERROR', BROKEN_OFF);
    if (!this.#wish.usage || this.#usage === null) return null;
    return this.#usageChunk ?? this.#framed({ choices: [], usage: this.#usage });
  }

  #normalise(chunk: JsonObject): JsonObject | null {
    this.#framed(chunk);
    const usage = readUsage(chunk['usage']);
    if (usage !== null) this.#usage = usage;
    const choices = asObjects(chunk['choices']);
    if (choices.length === 0) {
      // Without choices a chunk is the usage chunk, or a server's own sign of life.
      if (usage !== null)
        this.#usageChunk = { ...chunk, usage: { ...asObject(chunk['usage']), ...usage } };
      return null;
    }
    chunk['choices'] = choices;
    for (const [position, choice] of choices.entries()) this.#choice(choice, position);
    // Not `delete`, which would make the object slow to write out.
    if (!this.#wish.usage && 'usage' in chunk) chunk['usage'] = undefined;
    return chunk;
  }

  #framed(chunk: JsonObject): JsonObject {
    this.#frame ??= frameOf(chunk, this.#wish);
    chunk['id'] = this.#frame.id;
    chunk['object'] = this.#object;
    chunk['created'] = this.#frame.created;
    chunk['model'] = this.#wish.model;
    return chunk;
  }

  #choice(choice: JsonObject, position: number): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : position;
    choice['index'] = index;
    choice['finish_reason'] ??= null;
    if (this.#wish.kind === 'chat') choice['delta'] = this.#delta(choice, index);
    else if (typeof choice['text'] !== 'string') choice['text'] = '';
    const ended = this.#choices.get(index) === true || choice['finish_reason'] !== null;
    this.#choices.set(index, ended);
    if (this.#choices.size > MAX_CHOICES) {
      throw new LocalFailure(
        'LOCAL_ERROR',
        `the local server began more than ${MAX_CHOICES} choices.`,
      );
    }
  }

  #delta(choice: JsonObject, index: number): JsonObject {
    const delta = asObject(choice['delta']) ?? {};
    if (!this.#choices.has(index)) {
      // Clients build their message from the first delta; llama-server's has `content: null`.
      delta['role'] = 'assistant';
      if (typeof delta['content'] !== 'string') delta['content'] = '';
    }
    addReasoningTwin(delta);
    if (Array.isArray(delta['tool_calls'])) delta['tool_calls'] = indexed(delta['tool_calls']);
    return delta;
  }
}

const NOT_JSON = 'the local server sent an event that is not a JSON object.';
const EMPTY = 'the local server ended its stream without a single choice.';
const BROKEN_OFF = 'the local server ended its stream without a finish_reason or [DONE].';

/** Tool calls with the index by which clients join their pieces. */
export function indexed(toolCalls: unknown): JsonObject[] {
  return asObjects(toolCalls).map((call, position) =>
    typeof call['index'] === 'number' ? call : { index: position, ...call },
  );
}

function rejectErrors(chunk: JsonObject): void {
  if (readReportedError(chunk) !== null) throw failed(chunk);
}

/** What an error event or an `error:` line says. */
function failed(said: unknown): LocalFailure {
  const flat = asObject(said);
  const reported = readReportedError(said) ?? (flat && readReportedError({ error: flat }));
  const message = typeof said === 'string' ? said.slice(0, 2_000) : reported?.message;
  const told = message === undefined ? 'the local server reported a failure.' : message;
  return new LocalFailure('LOCAL_ERROR', withoutPaths(told));
}
