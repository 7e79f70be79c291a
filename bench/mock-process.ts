/**
 * A local model server that answers immediately, so that only the transport counts. The only
 * message of a stream says how many chunks to send, and at which interval.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from './listen.js';
import { BENCH_MODEL, IMAGE_BYTES, NUMBER_BYTES, VECTORS, WHEN } from './load/job.js';
import type { StreamWish } from './load/job.js';
import { stampNow } from './load/stamp.js';
import { noisePng } from './mock-image.js';

interface Chat {
  readonly stream?: boolean;
  readonly messages: readonly [{ readonly content: string }];
}

const MODELS = JSON.stringify({ object: 'list', data: [{ id: BENCH_MODEL, object: 'model' }] });
const ANSWER = completion('The quick brown fox jumps over the lazy dog.');

const IMAGE = Buffer.from(
  JSON.stringify({
    created: 1_700_000_000,
    data: [{ b64_json: noisePng(IMAGE_BYTES).toString('base64') }],
  }),
);

/** Numbers of one length: twelve bytes each, with the comma. */
const VECTOR = Array.from({ length: VECTORS.dimensions }, (_, i) => {
  return `-0.${String(12_345_678 + i * 7_654)
    .padStart(8, '0')
    .slice(0, NUMBER_BYTES - 4)}`;
}).join(',');
const VECTOR_LIST = Buffer.from(
  `{"object":"list","data":[${Array.from({ length: VECTORS.texts }, (_, index) => {
    return `{"object":"embedding","index":${index},"embedding":[${VECTOR}]}`;
  }).join(',')}],"model":"${BENCH_MODEL}","usage":{"prompt_tokens":2000,"total_tokens":2000}}`,
);

const server = createServer((request, response) => {
  if (request.method !== 'POST') return sendJson(response, MODELS);
  switch (request.url) {
    case '/v1/audio/transcriptions':
      return transcribe(request, response);
    case '/v1/images/generations':
      return void readBody(request).then(() => sendJson(response, IMAGE));
    case '/v1/embeddings':
      return void readBody(request).then(() => sendJson(response, VECTOR_LIST));
    default:
      return void readBody(request).then((body) => answer(JSON.parse(body) as Chat, response));
  }
});
listen(server);

/** Reads the form to its end, and says how much of it arrived. */
function transcribe(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  request.on('data', (piece: Buffer) => (bytes += piece.length));
  request.on('end', () => sendJson(response, JSON.stringify({ text: `${bytes} bytes` })));
}

function answer(chat: Chat, response: ServerResponse): void {
  const [{ content }] = chat.messages;
  if (content === WHEN) return sendJson(response, completion(stampNow()));
  if (chat.stream !== true) return sendJson(response, ANSWER);
  const wish = JSON.parse(content) as StreamWish;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (wish.intervalMs === 0) return flood(response, wish.chunks);
  paced(response, wish);
}

function completion(content: string): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: BENCH_MODEL,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 10, total_tokens: 22 },
  });
}

function flood(response: ServerResponse, chunks: number): void {
  for (let i = 0; i < chunks; i++) response.write(chunk(i));
  response.end(ENDING);
}

/** Each stream has its own clock: a chunk that comes late does not delay the ones after it. */
function paced(response: ServerResponse, { chunks, intervalMs }: StreamWish): void {
  const start = performance.now();
  let sent = 0;
  const next = (): void => {
    if (response.destroyed) return;
    response.write(chunk(sent++));
    if (sent === chunks) return void response.end(ENDING);
    setTimeout(next, Math.max(0, start + sent * intervalMs - performance.now()));
  };
  next();
}

const ABOUT = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000';
const CHUNK_START = `data: {${ABOUT},"model":"${BENCH_MODEL}","choices":[{"index":0,"delta":{`;
const ENDING = `${CHUNK_START}},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

/** One event whose text is the time at which it was sent. */
function chunk(index: number): string {
  const role = index === 0 ? '"role":"assistant",' : '';
  return `${CHUNK_START}${role}"content":"${stampNow()}"},"finish_reason":null}]}\n\n`;
}

/** ASCII only: as many bytes as characters. */
function sendJson(response: ServerResponse, json: string | Buffer): void {
  const headers = { 'content-type': 'application/json', 'content-length': json.length };
  response.writeHead(200, headers).end(json);
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => resolve(body));
  });
}
