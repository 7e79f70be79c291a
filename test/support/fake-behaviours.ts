/** Behaviours of a fake model server; each call creates a `Behaviour`. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { sendJson } from './fake-model-server.js';
import type { Behaviour, FakeRequest } from './fake-model-server.js';

export interface AnswerOptions {
  readonly text?: string;
  /** The model's name in the server's answers; by default the request's. */
  readonly model?: string;
  readonly promptTokens?: number;
}

/** Answers at once, as a correct server does: JSON, or a stream with one chunk a word. */
export function answer(options: AnswerOptions = {}): Behaviour {
  return async (request, response) => {
    if (request.body['stream'] !== true) return document(options)(request, response);
    return stream(wordsOf(options.text ?? HELLO), options)(request, response);
  };
}

/** A stream of `count` chunks with a pause before each; the texts are `c0 `, `c1 `, … */
export function chunks({ count, delayMs = 0 }: { count: number; delayMs?: number }): Behaviour {
  const texts = Array.from({ length: count }, (_, i) => `c${i} `);
  return stream(texts, { delayMs });
}

/** A whole JSON answer after a pause, even if the request has `stream: true`. */
export function document(options: AnswerOptions & { delayMs?: number } = {}): Behaviour {
  return async (request, response) => {
    if (options.delayMs !== undefined) await pause(options.delayMs);
    const text = options.text ?? HELLO;
    const ending = { index: 0, finish_reason: 'stop' };
    const choice = isChat(request)
      ? { ...ending, message: { role: 'assistant', content: text } }
      : { ...ending, text };
    const object = isChat(request) ? 'chat.completion' : 'text_completion';
    sendJson(response, 200, {
      ...frame(request, object, options),
      choices: [choice],
      usage: usage(options.promptTokens ?? 7, wordsOf(text).length),
    });
  };
}

/** A whole event stream, even if the request does not have `stream: true`. */
export function stream(
  texts: readonly string[],
  options: AnswerOptions & { readonly delayMs?: number } = {},
): Behaviour {
  return async (request, response) => {
    if (!(await sendChunks(request, response, { ...options, texts }))) return;
    response.write(ending(request, options));
    const wanted = request.body['stream_options'] as { include_usage?: boolean } | undefined;
    if (wanted?.include_usage === true) {
      const counted = usage(options.promptTokens ?? 7, texts.length);
      response.write(event({ ...frameOf(request, options), choices: [], usage: counted }));
    }
    response.end('data: [DONE]\n\n');
  };
}

/** A generation of a `computing` server. */
interface Computation {
  readonly streamed: boolean;
  /** `performance.now()` when the card was free again; null while it computes. */
  endedAt: number | null;
}

/** During which answers a server watches the connection: all, only streams, none. */
export type Looks = 'always' | 'streams' | 'never';

export interface Computing extends Behaviour {
  readonly computations: Computation[];
}

/**
 * A card that computes for `ms`. By default it behaves like most servers and notices a closed
 * connection only when it writes: a stream ends with the token after its caller has left, and a
 * plain call is computed to its end.
 */
export function computing(ms: number, looks: Looks = 'streams'): Computing {
  const computations: Computation[] = [];
  const behaviour: Behaviour = async (request, response) => {
    const streamed = request.body['stream'] === true;
    const computation: Computation = { streamed, endedAt: null };
    computations.push(computation);
    const until = performance.now() + ms;
    if (streamed) response.writeHead(200, { 'content-type': 'text/event-stream' });
    const isWatched = looks === 'always' || (looks === 'streams' && streamed);
    const isNoticed = (): boolean => isWatched && response.destroyed;
    while (performance.now() < until && !isNoticed()) {
      await pause(TOKEN_MS);
      if (!streamed || response.destroyed) continue;
      response.write(event({ ...frameOf(request, {}), choices: [delta(request)] }));
    }
    computation.endedAt = performance.now();
    if (!response.destroyed) response.end();
  };
  return Object.assign(behaviour, { computations });
}

const TOKEN_MS = 20;

function delta(request: FakeRequest): object {
  const piece = isChat(request) ? { delta: { content: 'a' } } : { text: 'a' };
  return { index: 0, finish_reason: null, ...piece };
}

/** Reads the request and never answers. */
export function hangBeforeHeaders(): Behaviour {
  return () => undefined;
}

/** Sends headers, then `after` chunks, and then nothing. */
export function hangAfterHeaders({ after = 0 }: { after?: number } = {}): Behaviour {
  return async (request, response) => {
    const texts = Array.from({ length: after }, (_, i) => `c${i} `);
    await sendChunks(request, response, { texts });
  };
}

/** Cuts the connection after some chunks, as a crashed server does. */
export function dieMidStream({ after = 2 }: { after?: number } = {}): Behaviour {
  return async (request, response) => {
    const texts = Array.from({ length: after }, (_, i) => `c${i} `);
    await sendChunks(request, response, { texts });
    // A moment, so that the chunks are sent before the connection is cut.
    await pause(20);
    response.destroy();
  };
}

/** Ends the stream properly, but without a finish_reason or [DONE]. */
export function noFinish({ after = 2 }: { after?: number } = {}): Behaviour {
  return async (request, response) => {
    const texts = Array.from({ length: after }, (_, i) => `c${i} `);
    await sendChunks(request, response, { texts });
    response.end();
  };
}

/** Ends with a finish_reason, but leaves out [DONE]. */
export function noDone(texts: readonly string[] = ['hi']): Behaviour {
  return async (request, response) => {
    await sendChunks(request, response, { texts });
    response.end(ending(request, {}));
  };
}

/** Some chunks, then old llama.cpp's `error: {…}` line. */
export function errorLine(
  message = 'the card is out of memory',
  { after = 1 }: { after?: number } = {},
): Behaviour {
  return async (request, response) => {
    const texts = Array.from({ length: after }, (_, i) => `c${i} `);
    await sendChunks(request, response, { texts });
    response.end(`error: ${JSON.stringify({ code: 500, message, type: 'server_error' })}\n\n`);
  };
}

/** Some chunks, then an error object in a `data:` line. */
export function errorEvent(message: string, { after = 1 }: { after?: number } = {}): Behaviour {
  return async (request, response) => {
    const texts = Array.from({ length: after }, (_, i) => `c${i} `);
    await sendChunks(request, response, { texts });
    response.end(event({ error: { message, type: 'server_error', code: 500 } }));
  };
}

/** An answer of any kind; an object body is sent as JSON. */
export function reply(
  status: number,
  body: unknown,
  contentType = typeof body === 'string' ? 'text/plain' : 'application/json',
): Behaviour {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': contentType });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** The error page of a web server in front of the model server. */
export function html500(): Behaviour {
  const page = '<!doctype html><head><title>Oops</title></head><h1>Internal <b>Error</b></h1>';
  return reply(500, page, 'text/html');
}

/** Answers with the request's own JSON as its text. */
export function echo(): Behaviour {
  return (request, response) => answer({ text: request.text })(request, response);
}

const HELLO = 'Hello from the fake.';

interface ChunkOptions extends AnswerOptions {
  readonly texts: readonly string[];
  readonly delayMs?: number;
}

/** False if the client has left. */
async function sendChunks(
  request: FakeRequest,
  response: ServerResponse,
  { texts, delayMs = 0, ...options }: ChunkOptions,
): Promise<boolean> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const [i, text] of texts.entries()) {
    if (delayMs > 0) await pause(delayMs);
    if (response.destroyed) return false;
    const delta = i === 0 ? { role: 'assistant', content: text } : { content: text };
    const choice = { index: 0, finish_reason: null };
    const spoken = isChat(request) ? { ...choice, delta } : { ...choice, text };
    response.write(event({ ...frameOf(request, options), choices: [spoken] }));
  }
  return true;
}

function ending(request: FakeRequest, options: AnswerOptions): string {
  const choice = { index: 0, finish_reason: 'stop' };
  const last = isChat(request) ? { ...choice, delta: {} } : { ...choice, text: '' };
  return event({ ...frameOf(request, options), choices: [last] });
}

function frameOf(request: FakeRequest, options: AnswerOptions): object {
  return frame(request, isChat(request) ? 'chat.completion.chunk' : 'text_completion', options);
}

function frame(request: FakeRequest, object: string, { model }: AnswerOptions): object {
  return { id: 'fake-1', object, created: 1_700_000_000, model: model ?? request.body['model'] };
}

function isChat({ path }: FakeRequest): boolean {
  return path.endsWith('/chat/completions');
}

function usage(prompt: number, completion: number): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}

/** Each word with the space after it. */
function wordsOf(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function event(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
