/**
 * A small HTTP program that records every request with its bytes, uploads included, and notes which
 * clients left before the answer ended.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface RecordedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** `performance.now()` when the client left early; null if it did not. */
  abortedAt: number | null;
}

export type Handler = (request: RecordedRequest, response: ServerResponse) => void | Promise<void>;

export class RecordingServer {
  readonly origin: string;
  readonly requests: RecordedRequest[] = [];
  readonly aborts: RecordedRequest[] = [];
  readonly #server: Server;
  readonly #handler: Handler;
  readonly #opened = new Set<string>();

  constructor(server: Server, handler: Handler) {
    this.#server = server;
    this.#handler = handler;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  /** The requests to one path, oldest first. */
  to(path: string): RecordedRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** Whether a POST to the path has begun; it may not have ended yet. */
  opened(path: string): boolean {
    return this.#opened.has(path);
  }

  /** Cuts every connection; new ones are refused. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers, url = '/' } = request;
    const [path = '/', search = ''] = url.split('?');
    if (method === 'POST') this.#opened.add(path);
    try {
      const body = await buffer(request);
      const query = new URLSearchParams(search);
      const seen: RecordedRequest = { method, path, query, headers, body, abortedAt: null };
      this.requests.push(seen);
      response.on('close', () => {
        if (response.writableFinished) return;
        seen.abortedAt = performance.now();
        this.aborts.push(seen);
      });
      await this.#handler(seen, response);
    } catch {
      response.destroy();
    }
  }
}

export async function startRecordingServer(handler: Handler): Promise<RecordingServer> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return new RecordingServer(server, handler);
}

/** Sends a string as plain text, anything else as JSON. */
export function send(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  response.end(isText ? body : JSON.stringify(body));
}
