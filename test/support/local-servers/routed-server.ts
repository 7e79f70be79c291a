/**
 * The frame of a stand-in: fixed answers to GET, work for POST, and for everything else what the
 * real server's framework answers.
 */
import type { ServerResponse } from 'node:http';
import { send, startRecordingServer } from '../recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from '../recording-server.js';

export interface Routes {
  /** What the `Server` header says. */
  readonly software: string;
  /** By path: a document, a text, or a function that answers by itself. */
  readonly get: Readonly<Record<string, unknown>>;
  readonly post?: Readonly<Record<string, Handler>>;
  /** Of the OpenAPI document, which FastAPI serves by itself; absent: there is none. */
  readonly title?: string;
  /** Answers whatever has no route. */
  readonly missing?: Handler;
}

export class RoutedServer {
  readonly server: RecordingServer;
  /** Answers POSTs instead. */
  behaviour: Handler | null = null;

  constructor(server: RecordingServer) {
    this.server = server;
  }

  /** The POSTs to a path. */
  posts(path: string): RecordedRequest[] {
    return this.server.to(path).filter(({ method }) => method === 'POST');
  }
}

export async function startRoutedServer(routes: Routes): Promise<RoutedServer> {
  const server = await startRecordingServer((request, response) => {
    response.setHeader('server', routes.software);
    const instead = request.method === 'POST' ? routed.behaviour : null;
    return (instead ?? handlerFor(routes, request))(request, response);
  });
  const routed = new RoutedServer(server);
  return routed;
}

/** A page, as model servers with a face of their own serve it at `/`. */
export function page(title: string): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><html><head><title>${title}</title></head></html>`);
  };
}

function handlerFor(routes: Routes, { method, path }: RecordedRequest): Handler {
  const { get, post = {}, missing = notFound } = routes;
  if (method === 'POST') return post[path] ?? (path in get ? notAllowed : missing);
  if (method !== 'GET') return path in get || path in post ? notAllowed : missing;
  if (path in get) return answering(get[path]);
  if (path === '/openapi.json' && routes.title !== undefined) return answering(openApi(routes));
  return path in post ? notAllowed : missing;
}

function answering(answer: unknown): Handler {
  if (typeof answer === 'function') return answer as Handler;
  return (_request, response) => send(response, 200, answer);
}

/** As FastAPI writes it, as far as anybody looks. */
function openApi({ title, get, post = {} }: Routes): object {
  const reads = Object.keys(get).map((path) => [path, { get: {} }] as const);
  const writes = Object.keys(post).map((path) => [path, { post: {} }] as const);
  const paths = Object.fromEntries([...reads, ...writes]);
  return { openapi: '3.1.0', info: { title, version: '1.0.0' }, paths };
}

function notFound(_request: RecordedRequest, response: ServerResponse): void {
  send(response, 404, { detail: 'Not Found' });
}

function notAllowed(_request: RecordedRequest, response: ServerResponse): void {
  send(response, 405, { detail: 'Method Not Allowed' });
}
