/** Requests one streamed answer, and reads it event by event. */
import { Fault } from '../../../api/fault.js';
import type { ApiRequest } from '../call.js';
import { shownOf } from '../run-facts.js';
import { factsOf } from '../run-facts.js';
import type { Marks, Tokens } from '../run-facts.js';
import type { Answer, ToolCall } from './conversation.js';

type Write = (changes: Partial<Answer>) => void;

const BROKEN = 'The answer broke off before its end. Try again.';

/** Throws a `Fault` if no answer begins, and an `AbortError` if it was stopped. */
export async function streamAnswer(
  send: (request: ApiRequest) => Promise<Response>,
  request: ApiRequest,
  write: Write,
): Promise<void> {
  const sentAt = performance.now();
  let marks: Marks = { sentAt, firstAt: null, lastAt: null };
  let heard = NOTHING_HEARD;
  const { body, headers } = await send(request);
  const show = (): void => {
    const tokens = heard.tokens ?? null;
    const facts = factsOf(headers, { marks, endedAt: performance.now(), tokens });
    const { toolCalls, finish } = heard;
    write({ ...splitThinking(heard), toolCalls, finish, facts });
  };
  const pace = new Pace(show);
  try {
    for await (const data of body === null ? [] : readEvents(body)) {
      const next = hear(heard, data);
      if (hasGrown(heard, next)) marks = marked(marks, performance.now());
      heard = next;
      pace.soon();
      if (heard.isDone || heard.error !== null) break;
    }
  } catch (thrown) {
    throw isAbort(thrown) ? thrown : new Fault(BROKEN);
  } finally {
    pace.now();
  }
  finish(heard, headers.get('x-request-id'), write);
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}

function hasGrown(before: Heard, after: Heard): boolean {
  const isLonger = after.text !== before.text || after.reasoning !== before.reasoning;
  return isLonger || after.toolCalls !== before.toolCalls;
}

function marked({ sentAt, firstAt }: Marks, now: number): Marks {
  return { sentAt, firstAt: firstAt ?? now, lastAt: now };
}

function finish({ error, isDone }: Heard, requestId: string | null, write: Write): void {
  if (error === null && isDone) return write({ state: 'done' });
  const { message, code } = error ?? { message: BROKEN, code: 'provider_disconnected' };
  write({ state: 'failed', fault: shownOf(new Fault(message, { code, requestId })) });
}

/** Upper limit of the delay: a hidden tab gets no animation frames. */
const UNSEEN_MS = 250;

/** Renders at most once per frame: fast models send several tokens in one. */
class Pace {
  readonly #draw: () => void;
  #frame: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  soon(): void {
    if (this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => this.now());
    this.#timer = setTimeout(() => this.now(), UNSEEN_MS);
  }

  now(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = null;
    this.#draw();
  }
}

// Server-sent events.

/** Larger than any event of a model: a longer one means that this is no event stream. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

export class EventSplitter {
  #rest = '';

  /** Returns the data of each event that is now complete. */
  push(text: string): string[] {
    this.#rest += text;
    if (this.#rest.length > MAX_EVENT_CHARACTERS)
      throw new Error('An event of the answer is too long.');
    // A CR at the end may be half of a CRLF, and so half of a blank line.
    const held = this.#rest.endsWith('\r') ? '\r' : '';
    const blocks = this.#rest.slice(0, this.#rest.length - held.length).split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = (blocks.pop() ?? '') + held;
    return blocks.flatMap(dataOf);
  }
}

/** Empty for comments, such as `: keep-alive`, and for events without a data field. */
function dataOf(block: string): string[] {
  const lines = block.split(/\r\n|\n|\r/).filter((line) => /^data(:|$)/.test(line));
  if (lines.length === 0) return [];
  return [lines.map((line) => line.replace(/^data:? ?/, '')).join('\n')];
}

/** Throws the errors of the body: an `AbortError`, or a lost connection. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const splitter = new EventSplitter();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* splitter.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Cancels the request if the caller stops reading, which frees the GPU.
    void reader.cancel().catch(() => undefined);
  }
}

// The received part of an answer.

export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string | null;
  readonly tokens: Tokens | null;
  /** An error after the beginning of the answer. */
  readonly error: { readonly message: string; readonly code: string } | null;
  /** The final event has arrived: the answer is complete. */
  readonly isDone: boolean;
}

export const NOTHING_HEARD: Heard = {
  text: '',
  reasoning: '',
  toolCalls: [],
  finish: null,
  tokens: null,
  error: null,
  isDone: false,
};

/** Adds one event. Data that is not a chat chunk is ignored. */
export function hear(heard: Heard, data: string): Heard {
  if (data === '[DONE]') return { ...heard, isDone: true };
  const chunk = parse(data);
  if (chunk === null) return heard;
  if (chunk.error) return { ...heard, error: errorOf(chunk.error) };
  const choice = chunk.choices?.[0];
  const {
    content,
    reasoning_content: reasoning,
    reasoning: twin,
    tool_calls,
  } = choice?.delta ?? {};
  return {
    ...heard,
    text: heard.text + (content ?? ''),
    // Both names have the same content; servers use one or the other.
    reasoning: heard.reasoning + (reasoning ?? twin ?? ''),
    toolCalls: tool_calls ? withCalls(heard.toolCalls, tool_calls) : heard.toolCalls,
    finish: choice?.finish_reason ?? heard.finish,
    tokens: chunk.usage ? tokensOf(chunk.usage) : heard.tokens,
  };
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly reasoning?: string | null;
      readonly tool_calls?: readonly CallPart[] | null;
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
  readonly error?: { readonly message?: unknown; readonly code?: unknown } | null;
}

interface CallPart {
  readonly index?: number;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

/** More than any model makes in one answer; others are left out. */
const MAX_TOOL_CALLS = 64;

/** A call comes in parts: its name first, its arguments piece by piece. */
function withCalls(calls: readonly ToolCall[], parts: readonly CallPart[]): readonly ToolCall[] {
  const next = [...calls];
  for (const { index = next.length, function: part } of parts) {
    const before = next[index] ?? { name: '', arguments: '' };
    if (!Number.isInteger(index) || index < 0 || index > next.length || index >= MAX_TOOL_CALLS)
      continue;
    next[index] = {
      name: before.name + (part?.name ?? ''),
      arguments: before.arguments + (part?.arguments ?? ''),
    };
  }
  return next;
}

function parse(data: string): Chunk | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function tokensOf({
  prompt_tokens = 0,
  completion_tokens = 0,
}: NonNullable<Chunk['usage']>): Tokens {
  return { prompt: prompt_tokens, completion: completion_tokens };
}

function errorOf({ message, code }: NonNullable<Chunk['error']>): NonNullable<Heard['error']> {
  return {
    message: typeof message === 'string' ? message : 'The provider failed while it answered.',
    code: typeof code === 'string' ? code : 'provider_error',
  };
}

const THINKING = /^\s*<think>\n?([\s\S]*?)(?:<\/think>\s*|$)/;

/** Some servers send the model's reasoning at the beginning of its answer, in `<think>`. */
export function splitThinking({ text, reasoning }: Pick<Heard, 'text' | 'reasoning'>): {
  readonly text: string;
  readonly reasoning: string;
} {
  const found = reasoning === '' ? THINKING.exec(text) : null;
  if (found === null) return { text, reasoning };
  return { text: text.slice(found[0].length), reasoning: found[1] ?? '' };
}
