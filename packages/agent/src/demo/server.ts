/**
 * A model server without a model, for trying the gateway on a machine without a GPU. It speaks
 * OpenAI's API on loopback like any other local server, so a demo takes the same way as the real
 * thing.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { randomId } from '@inference-gateway/shared/ids';
import { asObject, parseJson } from '../openai-wire/json.js';
import type { JsonObject } from '../openai-wire/json.js';
import { DEMO_MODELS, answerChat, answerCompletion } from './answer.js';
import type { DemoAnswer, DemoModel } from './answer.js';
import { chatChunks, chatDocument, completionChunks, completionDocument } from './wire.js';
import type { Envelope } from './wire.js';

export interface DemoServer {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** About the pace of a small model on an old card. */
const WORD_MS = 20;

/** Listens on a free port of 127.0.0.1. */
export async function startDemoServer(): Promise<DemoServer> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return { baseUrl: `http://127.0.0.1:${port}/v1`, close };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  if (asked === 'GET /v1/models') return send(response, 200, { object: 'list', data: modelList() });
  const isChat = asked === 'POST /v1/chat/completions';
  if (!isChat && asked !== 'POST /v1/completions')
    return refuse(response, 404, `No ${asked} here.`);
  const body = asObject(parseJson(await text(request)));
  if (body === null) return refuse(response, 400, 'The body is not a JSON object.');
  const { model } = body;
  if (!isDemoModel(model)) {
    const known = Object.keys(DEMO_MODELS).join(', ');
    return refuse(response, 404, `There is no model "${String(model)}" here. Use one of ${known}.`);
  }
  const said = isChat ? answerChat(model, body) : answerCompletion(body);
  const envelope = envelopeOf(model, isChat);
  if (body['stream'] === true) return stream(response, chunksOf(said, envelope, body));
  const form = isChat ? chatDocument : completionDocument;
  return send(response, 200, form(said, envelope));
}

function chunksOf(said: DemoAnswer, envelope: Envelope, body: JsonObject): JsonObject[] {
  const chunks = envelope.id.startsWith('chatcmpl') ? chatChunks : completionChunks;
  const wantsUsage = asObject(body['stream_options'])?.['include_usage'] === true;
  const usage = { ...envelope, choices: [], usage: said.usage };
  return [...chunks(said, envelope), ...(wantsUsage ? [usage] : [])];
}

async function stream(response: ServerResponse, chunks: readonly JsonObject[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const chunk of chunks) {
    if (response.destroyed) return;
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    await pause(WORD_MS);
  }
  response.end('data: [DONE]\n\n');
}

function modelList(): JsonObject[] {
  return Object.entries(DEMO_MODELS).map(([id, facts]) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'demo',
    ...facts,
  }));
}

function isDemoModel(model: unknown): model is DemoModel {
  return typeof model === 'string' && Object.hasOwn(DEMO_MODELS, model);
}

function envelopeOf(model: DemoModel, isChat: boolean): Envelope {
  const id = `${isChat ? 'chatcmpl' : 'cmpl'}-${randomId()}`;
  return { id, created: Math.floor(Date.now() / 1000), model };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { message, type: 'invalid_request_error', code: null, param: null };
  send(response, status, { error });
}

function send(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
