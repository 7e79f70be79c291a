/**
 * A small real HTTP program that stands in for a local model server. GET paths answer from a table.
 * A POST is recorded and answered by the behaviour that the test has set; the test may change it at
 * any time.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One POST as received. */
export interface FakeRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as text, and parsed if it is JSON (else an empty object). */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** `performance.now()` of the request, and of the client's leaving before the answer ended. */
  readonly at: number;
  abortedAt: number | null;
}

/** Answers one POST; the request hangs if a behaviour never ends its response. */
export type Behaviour = (request: FakeRequest, response: ServerResponse) => void | Promise<void>;

/** The answer to a GET: a JSON value, or a `RawRoute` from `raw`. */
export type Route = unknown;

export interface RawRoute {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Marks a route that sets more than a JSON body. */
export function raw(route: RawRoute): RawRoute {
  RAW.add(route);
  return route;
}

export interface FakeServerOptions {
  /**
   * Looked up by path with query, then by path alone; unknown paths are 404. A function is called
   * for each request.
   */
  readonly routes: Readonly<Record<string, Route>>;
  readonly behaviour: Behaviour;
  /** Sent with every answer, for instance `Server`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests without it are answered 401. */
  readonly apiKey?: string;
  /** Runs after the check of the key: refuses a request with this answer; null accepts it. */
  readonly guard?: (request: IncomingMessage) => RawRoute | null;
  /** For a server that restarts on the same port. */
  readonly port?: number;
  readonly host?: string;
}

export class FakeModelServer {
  readonly origin: string;
  readonly port: number;
  /** Every POST so far, the oldest first. */
  readonly requests: FakeRequest[] = [];
  /** The paths of every GET so far. */
  readonly gets: string[] = [];
  /** The POSTs whose client left early, in the order of leaving. */
  readonly aborts: FakeRequest[] = [];
  /** POSTs whose answers have not ended, and the highest number of them at the same time. */
  inFlight = 0;
  maxInFlight = 0;
  routes: Record<string, Route>;
  readonly #server: Server;
  readonly #options: FakeServerOptions;
  #behaviour: Behaviour;
  readonly #once: Behaviour[] = [];

  constructor(server: Server, options: FakeServerOptions) {
    this.#server = server;
    this.#options = options;
    this.#behaviour = options.behaviour;
    this.routes = { ...options.routes };
    this.port = (server.address() as AddressInfo).port;
    this.origin = `http://${options.host ?? '127.0.0.1'}:${this.port}`;
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  /** Includes `/v1`, as OpenAI-compatible servers are configured. */
  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  get lastRequest(): FakeRequest {
    const last = this.requests.at(-1);
    if (last === undefined) throw new Error('no request came yet');
    return last;
  }

  /** Answers all later requests like this. */
  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
  }

  /** Answers the next requests like this, one each; then the lasting behaviour applies again. */
  once(...behaviours: Behaviour[]): void {
    this.#once.push(...behaviours);
  }

  /** Stops listening and cuts every connection: the next connection is refused. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(this.#options.headers ?? {})) {
      response.setHeader(name, value);
    }
    const { apiKey } = this.#options;
    if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
      return sendJson(response, 401, { error: { message: 'Invalid API Key', code: 401 } });
    }
    const refused = this.#options.guard?.(request) ?? null;
    if (refused !== null) return sendRaw(response, refused);
    const answered =
      request.method === 'POST'
        ? this.#post(request, response)
        : this.#get(request.url ?? '/', response);
    return answered.catch(() => void response.destroy());
  }

  async #get(url: string, response: ServerResponse): Promise<void> {
    this.gets.push(url);
    const route = this.routes[url] ?? this.routes[url.split('?')[0] ?? ''] ?? this.routes['*'];
    if (route === undefined) return sendJson(response, 404, { error: { message: 'no such path' } });
    const value: unknown = typeof route === 'function' ? await (route as () => unknown)() : route;
    if (!isRaw(value)) return sendJson(response, 200, value);
    return sendRaw(response, value);
  }

  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.now();
    this.inFlight++;
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    response.on('close', () => this.inFlight--);
    const sent = await text(request);
    const path = request.url ?? '/';
    const { headers } = request;
    const seen: FakeRequest = { path, headers, text: sent, body: parse(sent), at, abortedAt: null };
    this.requests.push(seen);
    response.on('close', () => {
      if (response.writableFinished) return;
      seen.abortedAt = performance.now();
      this.aborts.push(seen);
    });
    const posted = this.routes[`POST ${path}`];
    if (typeof posted === 'function') {
      return sendJson(response, 200, (posted as (seen: FakeRequest) => unknown)(seen));
    }
    return (this.#once.shift() ?? this.#behaviour)(seen, response);
  }
}

/** Listens on a free port of 127.0.0.1 by default. */
export async function startFakeServer(options: FakeServerOptions): Promise<FakeModelServer> {
  const server = createServer();
  const { port = 0, host = '127.0.0.1' } = options;
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(port, host.replace(/[[\]]/g, ''), done);
  });
  return new FakeModelServer(server, options);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function sendRaw(response: ServerResponse, route: RawRoute): void {
  const { status = 200, headers = {}, body = '' } = route;
  const isText = typeof body === 'string';
  response.writeHead(status, isText ? headers : { 'content-type': 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

const RAW = new WeakSet<object>();

function isRaw(route: unknown): route is RawRoute {
  return typeof route === 'object' && route !== null && RAW.has(route);
}

function parse(sent: string): Record<string, unknown> {
  try {
    return JSON.parse(sent) as Record<string, unknown>;
  } catch {
    return {};
  }
}
