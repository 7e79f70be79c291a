/** The `openai` backend before a local server that answers POSTs and GETs as a test wants. */
import ffmpegBinary from '@ffmpeg-installer/ffmpeg';
import type { Backend, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { Ffmpeg } from '@inference-gateway/agent/media/ffmpeg';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import { send, startRecordingServer } from '../../../support/recording-server.js';
import type {
  Handler,
  RecordedRequest,
  RecordingServer,
} from '../../../support/recording-server.js';

export interface OpenAiStage {
  readonly server: RecordingServer;
  readonly backend: Backend;
  /** The POSTs so far. */
  readonly posts: () => readonly RecordedRequest[];
}

interface StageOptions {
  readonly changes?: Partial<ServiceConfig>;
  readonly hasFfmpeg?: boolean;
}

export async function startOpenAi(
  type: ServiceConfig['type'],
  handler: Handler,
  { changes = {}, hasFfmpeg = true }: StageOptions = {},
): Promise<OpenAiStage> {
  const server = await startRecordingServer(handler);
  onTestFinished(() => server.close());
  const service = configuredServer(`${server.origin}/v1`, { type, ...changes });
  const ffmpeg = hasFfmpeg ? new Ffmpeg(ffmpegBinary.path) : null;
  const posts = () => server.requests.filter(({ method }) => method === 'POST');
  return { server, backend: createBackend(service, { ffmpeg }), posts };
}

/** Answers every request with bytes of this content type. */
export function bytes(body: Buffer, contentType = 'application/octet-stream'): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': contentType }).end(body);
  };
}

export function json(body: unknown, status = 200): Handler {
  return (_request, response) => send(response, status, body);
}

export function page(status: number): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html><h1>Oops</h1></html>');
  };
}

/** The first answers one after the other; the last one for all that follow. */
export function inTurn(...handlers: readonly Handler[]): Handler {
  let turn = 0;
  return (request, response) => {
    const handler = handlers[Math.min(turn, handlers.length - 1)];
    turn += 1;
    return handler?.(request, response);
  };
}

/** Begins with bytes and breaks off. */
export function dies(start: Buffer): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': start.length + 1_000 });
    response.write(start, () => response.destroy());
  };
}

export function sentJson(request: RecordedRequest | undefined): Record<string, unknown> {
  return JSON.parse(String(request?.body)) as Record<string, unknown>;
}

export function sentForm(request: RecordedRequest | undefined): Promise<FormData> {
  if (request === undefined) throw new Error('nothing was posted');
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  return new Response(new Uint8Array(request.body), { headers }).formData();
}
