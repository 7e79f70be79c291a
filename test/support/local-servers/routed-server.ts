/**
 * The common part of stand-ins: fixed answers to GET, handlers for POST, and for all other requests
 * the answers of the real server's framework.
 */
import type { ServerResponse } from 'node:http';
import { send, startRecordingServer } from '../recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from '../recording-server.js';

export interface Routes {
  /** The `Server` header. */
  readonly software: string;
  /** By path: a JSON document, a text, or a handler. */
  readonly get: Readonly<Record<string, unknown>>;
  readonly post?: Readonly<Record<string, Handler>>;
  /**
   * Title of the OpenAPI document, which FastAPI serves by default; without a title there is none.
   */
  readonly title?: string;
  /** Answers requests without a route. */
  readonly missing?: Handler;
}

export class RoutedServer {
  readonly server: RecordingServer;
  /** Answers POSTs in place of their handlers. */
  behaviour: Handler | null = null;

  constructor(server: RecordingServer) {
    this.server = server;
  }

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

/** An HTML page, as model servers with a web interface serve it at `/`. */
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

/** FastAPI's OpenAPI document, with the parts that the agent reads. */
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
