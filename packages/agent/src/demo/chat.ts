/** `POST /v1/chat/completions` and `POST /v1/completions` of the demo, whole and streamed. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { randomId } from '@inference-gateway/shared/ids';
import { asObject } from '../openai-wire/json.js';
import type { JsonObject } from '../openai-wire/json.js';
import { answerChat, answerCompletion } from './answer.js';
import type { DemoAnswer } from './answer.js';
import { requireModel } from './models.js';
import { readJson } from './read-body.js';
import { jsonReply } from './reply.js';
import type { DemoReply } from './reply.js';
import { chatChunks, chatDocument, completionChunks, completionDocument } from './wire.js';
import type { Envelope } from './wire.js';

/** About the pace of a small model on an old card. */
const WORD_MS = 20;

interface Form {
  readonly idPrefix: string;
  answer(model: string, body: JsonObject): DemoAnswer;
  document(said: DemoAnswer, envelope: Envelope): JsonObject;
  chunks(said: DemoAnswer, envelope: Envelope): JsonObject[];
}

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
  const created = Math.floor(Date.now() / 1000);
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
