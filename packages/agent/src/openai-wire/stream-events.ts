/** Converts a local server's event stream into the events for the coordinator. */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { TextTokens } from '@inference-gateway/shared/openai/tokens';
import { LocalFailure, LocalRefusal } from '../backends/backend.js';
import type { JsonObject } from './json.js';
import { asObject, asObjects, parseJson } from './json.js';
import { SseParser } from './sse-parser.js';
import type { SseEvent } from './sse-parser.js';
import { errorInSuccess, withoutPaths, readReportedError } from './error-document.js';
import { nameReasoning } from './document.js';
import { endingOf, StreamedCalls } from './tool-calls.js';
import { completeUsage, countMessage, readUsage } from './usage.js';
import { frameOf, requireModel } from './answer-form.js';
import type { Frame, AnswerForm } from './answer-form.js';

/** The bytes of an answer's body. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  /** Everything relevant was read: the connection may be kept, even if more data comes. */
  finished(): void;
}

/**
 * Each item contains the events that one read of the socket completed, so that a flood costs one
 * write per read. Events before a failure are yielded before it is thrown.
 */
export async function* streamEvents(
  source: ByteSource,
  reader: ChunkReader,
): AsyncGenerator<string, TokenUsage | null, void> {
  const parser = new SseParser();
  for await (const bytes of source) {
    const { text, failure } = translate(reader, () => parser.push(bytes));
    if (text !== '') yield text;
    if (failure !== null) throw failure.error;
    if (reader.done) break;
  }
  if (reader.done) source.finished();
  const { text, failure } = translate(reader, () => parser.end());
  if (text !== '') yield text;
  if (failure !== null) throw failure.error;
  const owed = reader.finish();
  if (owed.length > 0) yield owed.map(eventOf).join('');
  return reader.usage;
}

/** One whole event; JSON contains no line break, so it is always one `data:` line. */
export function eventOf(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

interface Translated {
  readonly text: string;
  readonly failure: { readonly error: unknown } | null;
}

function translate(reader: ChunkReader, parse: () => SseEvent[]): Translated {
  let text = '';
  try {
    for (const event of parse()) {
      const chunk = reader.read(event);
      if (chunk !== null) text += eventOf(chunk);
    }
  } catch (error) {
    return { text, failure: { error } };
  }
  return { text, failure: null };
}

/** The limit for a request (`n`) is far below; a server that sends too many choices is stopped. */
const MAX_CHOICES = 1_024;

/**
 * Reads one local server's stream, event by event, as clean OpenAI chunks, and knows when it is
 * complete: when every choice that began has a `finish_reason`, or after `[DONE]`.
 */
export class ChunkReader {
  readonly #form: AnswerForm;
  #frame: Frame | null = null;
  /** As last reported by the server. */
  #usage: TokenUsage | null = null;
  readonly #written = new TextTokens();
  /** The usage chunk is held back: it is sent once and last, even if a server repeats it. */
  #usageChunk: JsonObject | null = null;
  #details: JsonObject | null = null;
  /** Each choice seen so far, and whether it has ended. */
  readonly #choices = new Map<number, boolean>();
  /** For choices that call tools. */
  readonly #calls = new Map<number, StreamedCalls>();
  #done = false;

  constructor(form: AnswerForm) {
    this.#form = form;
  }

  /** `[DONE]` was read: all later data is ignored. */
  get done(): boolean {
    return this.#done;
  }

  /** Usage of what has been read so far: the server's own count if it has reported one. */
  get usage(): TokenUsage {
    return completeUsage(this.#usage, this.#written, this.#form.promptTokens);
  }

  /** Includes other token details from the server. */
  get detailedUsage(): JsonObject {
    return { ...this.#details, ...this.usage };
  }

  /** The chunk to pass on, or null if the event contains none. Throws a `LocalFailure`. */
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
   * At the end of the stream: the remaining chunks, which are the endings of choices that only
   * `[DONE]` has ended, and the usage chunk. Throws if the answer is incomplete.
   */
  finish(): JsonObject[] {
    if (this.#choices.size === 0) throw new LocalFailure('LOCAL_ERROR', EMPTY);
    const isWhole = this.#done || [...this.#choices.values()].every((ended) => ended);
    if (!isWhole) throw new LocalFailure('LOCAL_ERROR', BROKEN_OFF);
    const owed: JsonObject[] = [];
    for (const [index, ended] of this.#choices) if (!ended) owed.push(this.#ending(index));
    if (this.#form.usage) {
      const chunk = this.#usageChunk ?? this.#framed({ choices: [] });
      owed.push({ ...chunk, usage: this.detailedUsage });
    }
    return owed;
  }

  #ending(index: number): JsonObject {
    const isMessage = this.#form.wire.choice === 'message';
    const choice = isMessage ? { index, delta: {} } : { index, text: '' };
    const finish_reason = endingOf(null, this.#calls.get(index)?.count ?? 0);
    return this.#framed({ choices: [{ ...choice, finish_reason }] });
  }

  #normalise(chunk: JsonObject): JsonObject | null {
    this.#framed(chunk);
    const usage = readUsage(chunk['usage']);
    if (usage !== null) {
      this.#usage = usage;
      this.#details = asObject(chunk['usage']);
    }
    const choices = asObjects(chunk['choices']);
    if (choices.length === 0) {
      // A chunk without choices is the usage chunk, or a server's keep-alive.
      if (usage !== null) this.#usageChunk = chunk;
      return null;
    }
    chunk['choices'] = choices;
    for (const [position, choice] of choices.entries()) this.#choice(choice, position);
    // It is sent once, at the end. Not `delete`, which would make the object slow to serialise.
    if ('usage' in chunk) chunk['usage'] = undefined;
    return chunk;
  }

  #framed(chunk: JsonObject): JsonObject {
    if (this.#frame === null) requireModel(chunk, this.#form);
    this.#frame ??= frameOf(chunk, this.#form);
    chunk['id'] = this.#frame.id;
    chunk['object'] = this.#form.wire.chunk;
    chunk['created'] = this.#frame.created;
    chunk['model'] = this.#form.model;
    return chunk;
  }

  #choice(choice: JsonObject, position: number): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : position;
    choice['index'] = index;
    choice['finish_reason'] ??= null;
    if (this.#form.wire.choice === 'message') choice['delta'] = this.#delta(choice, index);
    else if (typeof choice['text'] === 'string') this.#written.add(choice['text']);
    else choice['text'] = '';
    if (choice['finish_reason'] === 'stop') {
      choice['finish_reason'] = endingOf('stop', this.#calls.get(index)?.count ?? 0);
    }
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
    countMessage(delta, this.#written);
    nameReasoning(delta, this.#form.reasoning);
    if (Array.isArray(delta['tool_calls'])) this.#toolCalls(delta, index);
    return delta;
  }

  #toolCalls(delta: JsonObject, index: number): void {
    const calls = this.#calls.get(index) ?? new StreamedCalls();
    this.#calls.set(index, calls);
    delta['tool_calls'] = calls.read(delta['tool_calls']);
  }
}

const NOT_JSON = 'the local server sent an event that is not a JSON object.';

const EMPTY = 'the local server ended its stream without a single choice.';

const BROKEN_OFF = 'the local server ended its stream without a finish_reason or [DONE].';

function rejectErrors(chunk: JsonObject): void {
  if (readReportedError(chunk) !== null) throw failed(chunk);
}

/** The message of an error event or an `error:` line. */
function failed(said: unknown): LocalFailure {
  const flat = asObject(said);
  const reported = readReportedError(said) ?? (flat && readReportedError({ error: flat }));
  const message = typeof said === 'string' ? said.slice(0, 2_000) : reported?.message;
  const told = withoutPaths(message ?? 'the local server reported a failure.');
  const answer = reported && errorInSuccess(reported);
  const isRefused = answer !== null && (answer.status < 500 || answer.status === 503);
  return isRefused ? new LocalRefusal(told, answer) : new LocalFailure('LOCAL_ERROR', told);
}
