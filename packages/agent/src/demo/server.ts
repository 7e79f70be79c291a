/**
 * A model server without models, for trying the gateway on a machine without a GPU. It speaks
 * OpenAI's API on loopback like any other local server, so a demo uses the same code path as a real
 * server.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { replyToChat, replyToCompletion } from './chat.js';
import { replyToEdit, replyToGeneration } from './images.js';
import { modelList } from './models.js';
import { DemoRefusal, jsonReply } from './reply.js';
import type { DemoReply } from './reply.js';
import { replyToSpeech, VOICES } from './speech.js';
import { replyToTranscription } from './transcription.js';

export interface DemoServer {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** Longer than clients keep a connection: none sends a request on one that closes just then. */
const KEEP_ALIVE_MS = 65_000;

type Handler = (request: IncomingMessage) => DemoReply | Promise<DemoReply>;

const ROUTES: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['GET /v1/models', () => jsonReply({ object: 'list', data: modelList() })],
  ['GET /v1/audio/voices', () => jsonReply({ voices: Object.keys(VOICES) })],
  ['POST /v1/chat/completions', replyToChat],
  ['POST /v1/completions', replyToCompletion],
  ['POST /v1/audio/speech', replyToSpeech],
  ['POST /v1/audio/transcriptions', replyToTranscription],
  ['POST /v1/images/generations', replyToGeneration],
  ['POST /v1/images/edits', replyToEdit],
]);

/** Listens on a free port of 127.0.0.1. */
export async function startDemoServer(): Promise<DemoServer> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
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
  const { status, contentType, bytes, body } = await replyTo(request);
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'no-cache',
    ...(bytes !== null && { 'content-length': bytes }),
  });
  await pipeline(Readable.from(body), response);
}

async function replyTo(request: IncomingMessage): Promise<DemoReply> {
  try {
    const asked = `${request.method} ${request.url?.split('?', 1)[0]}`;
    const handle = ROUTES.get(asked);
    if (handle === undefined) throw new DemoRefusal(404, `No ${asked} here.`);
    return await handle(request);
  } catch (error) {
    if (error instanceof DemoRefusal) return jsonReply(error.body, error.status);
    throw error;
  }
}
