/** `POST /v1/chat/completions` and `POST /v1/completions` of the demo, whole and streamed. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { randomId } from '@inference-gateway/shared/ids';
import { asObject, asObjects, asText } from '../openai-wire/json.js';
import type { JsonObject } from '../openai-wire/json.js';
import { requireModel } from './models.js';
import { readJson, jsonReply } from './reply.js';
import type { DemoReply } from './reply.js';

/** About the pace of a small model on an old card. */
const WORD_MS = 20;

interface Form {
  readonly idPrefix: string;
  answer(model: string, body: JsonObject): DemoAnswer;
  document(said: DemoAnswer, envelope: Envelope): JsonObject;
  chunks(said: DemoAnswer, envelope: Envelope): JsonObject[];
}

/** No message contains it. */
const NO_NAME = '\u0000';

const CHAT: Form = {
  idPrefix: 'chatcmpl',
  answer: answerChat,
  document: chatDocument,
  chunks: chatChunks,
};

const COMPLETION: Form = {
  idPrefix: 'cmpl',
  answer: (_model, body) => answerCompletion(body),
  document: completionDocument,
  chunks: completionChunks,
};

export function replyToChat(request: IncomingMessage): Promise<DemoReply> {
  return reply(request, CHAT);
}

export function replyToCompletion(request: IncomingMessage): Promise<DemoReply> {
  return reply(request, COMPLETION);
}

async function reply(request: IncomingMessage, form: Form): Promise<DemoReply> {
  const body = await readJson(request);
  const model = requireModel(body['model'], 'llm');
  const said = form.answer(model, body);
  const created = Math.floor(SYSTEM_CLOCK.now() / 1000);
  const envelope = { id: `${form.idPrefix}-${randomId()}`, created, model };
  if (body['stream'] !== true) return jsonReply(form.document(said, envelope));
  const usage = { ...envelope, choices: [], usage: said.usage };
  const chunks = [...form.chunks(said, envelope), ...(wantsUsage(body) ? [usage] : [])];
  return { status: 200, contentType: 'text/event-stream', bytes: null, body: events(chunks) };
}

async function* events(chunks: readonly JsonObject[]): AsyncGenerator<string> {
  for (const chunk of chunks) {
    yield `data: ${JSON.stringify(chunk)}\n\n`;
    await pause(WORD_MS);
  }
  yield 'data: [DONE]\n\n';
}

function wantsUsage(body: JsonObject): boolean {
  return asObject(body['stream_options'])?.['include_usage'] === true;
}

// The demo's answers in OpenAI's form, whole and in chunks.

/** The common fields of every answer and chunk of one request. */
interface Envelope extends JsonObject {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function chatDocument(said: DemoAnswer, envelope: Envelope): JsonObject {
  const calls = toolCalls(said).map(({ index: _position, ...call }) => call);
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : said.words.join('').trimEnd(),
    ...(said.reasoning !== null && { reasoning_content: said.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: said.finishReason };
  return { ...envelope, object: 'chat.completion', choices: [choice], usage: said.usage };
}

function completionDocument(said: DemoAnswer, envelope: Envelope): JsonObject {
  const text = said.words.join('').trimEnd();
  const choice = { index: 0, text, logprobs: null, finish_reason: said.finishReason };
  return { ...envelope, object: 'text_completion', choices: [choice], usage: said.usage };
}

function chatChunks(said: DemoAnswer, envelope: Envelope): JsonObject[] {
  const calls = toolCalls(said);
  const deltas: JsonObject[] = [
    { role: 'assistant', content: '' },
    ...(said.reasoning === null ? [] : [{ reasoning_content: said.reasoning }]),
    ...spoken(said).map((content) => ({ content })),
    ...(calls.length > 0 ? [{ tool_calls: calls }] : []),
  ];
  const chunk = (delta: JsonObject, ending: string | null) => ({
    ...envelope,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: ending }],
  });
  return [...deltas.map((delta) => chunk(delta, null)), chunk({}, said.finishReason)];
}

function completionChunks(said: DemoAnswer, envelope: Envelope): JsonObject[] {
  const chunk = (text: string, ending: string | null) => ({
    ...envelope,
    object: 'text_completion',
    choices: [{ index: 0, text, finish_reason: ending }],
  });
  return [...spoken(said).map((word) => chunk(word, null)), chunk('', said.finishReason)];
}

/** Streamed and whole answers have the same text: the last word has no space after it. */
function spoken({ words }: DemoAnswer): string[] {
  return words.map((word, position) => (position === words.length - 1 ? word.trimEnd() : word));
}

function toolCalls({ toolCall }: DemoAnswer): JsonObject[] {
  if (toolCall === null) return [];
  return [{ index: 0, id: `call_${toolCall.name}`, type: 'function', function: toolCall }];
}

// The answers of the demo models: a function of the request only, so that tests and first users can
// rely on it.

interface DemoAnswer {
  readonly reasoning: string | null;
  /** Words with the space after them; streams send one per chunk. */
  readonly words: readonly string[];
  readonly toolCall: { readonly name: string; readonly arguments: string } | null;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
}

function answerChat(model: string, body: JsonObject): DemoAnswer {
  const messages = asObjects(body['messages']);
  const promptWords = messages.flatMap((message) => wordsOf(textOf(message)));
  const last = messages.at(-1) ?? {};
  const said = textOf(messages.findLast(({ role }) => role === 'user') ?? {});
  const tool = last['role'] === 'user' ? wantedTool(body, said) : null;
  if (model === 'demo-chat' && tool !== null) return callTool(tool, promptWords.length);
  const text = last['role'] === 'tool' ? `The tool said: ${textOf(last)}` : `You said: ${said}`;
  const reasoning = model === 'demo-reasoner' ? reasonAbout(said) : null;
  return speak({ text, reasoning, promptTokens: promptWords.length }, body);
}

function answerCompletion(body: JsonObject): DemoAnswer {
  const prompt = asText(body['prompt']) ?? '';
  const text = `You wrote: ${prompt}`;
  return speak({ text, reasoning: null, promptTokens: wordsOf(prompt).length }, body);
}

interface Speech {
  readonly text: string;
  readonly reasoning: string | null;
  readonly promptTokens: number;
}

/** One word is one token here, and `max_tokens` counts words. */
function speak({ text, reasoning, promptTokens }: Speech, body: JsonObject): DemoAnswer {
  const all = wordsOf(text);
  const limit = body['max_completion_tokens'] ?? body['max_tokens'];
  const words = typeof limit === 'number' ? all.slice(0, Math.max(0, limit)) : all;
  const finishReason = words.length < all.length ? 'length' : 'stop';
  const usage = count(promptTokens, words.length + wordsOf(reasoning ?? '').length);
  return { reasoning, words, toolCall: null, finishReason, usage };
}

/** The first tool that the message names, as `{name, parameters}`. */
function wantedTool(body: JsonObject, said: string): JsonObject | null {
  const functions = asObjects(body['tools']).map((tool) => asObject(tool['function']) ?? {});
  const named = functions.find(({ name }) => said.includes(asText(name) ?? NO_NAME));
  return named ?? null;
}

function callTool({ name, parameters }: JsonObject, promptTokens: number): DemoAnswer {
  const properties = asObject(asObject(parameters)?.['properties']) ?? {};
  const filled = Object.entries(properties).map(([key, schema]) => [key, example(schema)]);
  return {
    reasoning: null,
    words: [],
    toolCall: { name: String(name), arguments: JSON.stringify(Object.fromEntries(filled)) },
    finishReason: 'tool_calls',
    usage: count(promptTokens, 1 + filled.length),
  };
}

function example(schema: unknown): unknown {
  const { type, enum: choices } = asObject(schema) ?? {};
  if (Array.isArray(choices)) return choices[0] as unknown;
  if (type === 'number' || type === 'integer') return 1;
  if (type === 'boolean') return true;
  return type === 'string' ? 'demo' : null;
}

function reasonAbout(said: string): string {
  return `The message has ${wordsOf(said).length} words. I repeat it.`;
}

/** The text of a message whose content is a string or a list of parts. */
function textOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return asObjects(content)
    .flatMap(({ text }) => asText(text) ?? [])
    .join(' ');
}

function wordsOf(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function count(prompt: number, completion: number): DemoAnswer['usage'] {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}
