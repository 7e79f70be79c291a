/**
 * `/readyz` and `/metrics` for the owner's own programs, only on 127.0.0.1 and only if the owner
 * enables it. It reads and changes nothing.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Tally } from '../work/ledger.js';
import { agentMetrics, EXPOSITION_TYPE, exposition } from './agent-metrics.js';
import type { StatusFacts } from './agent-metrics.js';

export interface StatusSource {
  readonly ledger: { readonly tally: Tally };
  status(): StatusFacts;
}

export interface StatusServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A monitoring program needs one or two. */
const MAX_CONNECTIONS = 16;

const REQUEST_MS = 5_000;

const MAX_HEADER_BYTES = 8 * 1024;

/** Throws with exit code 7 if the port is taken. */
export async function openStatusServer(port: number, agent: StatusSource): Promise<StatusServer> {
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_MS };
  const server = createServer({ ...limits, headersTimeout: REQUEST_MS }, (request, response) =>
    send(request, response, answer(request, agent)),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

function answer(request: IncomingMessage, agent: StatusSource): Answer {
  const { method = '', url = '/' } = request;
  // A web page can point its own host name at this address (DNS rebinding); it cannot forge this
  // header.
  if (!isLoopback(request.headers.host)) {
    return refusal(403, 'ask for 127.0.0.1 or localhost: other names are refused');
  }
  if (!READS.has(method)) return refusal(405, `${method} changes nothing here: use GET`);
  const path = url.split('?')[0];
  if (path === '/readyz') return ready(agent.status());
  if (path !== '/metrics') return refusal(404, 'there is /readyz and /metrics');
  const text = exposition(agentMetrics(agent.status(), agent.ledger.tally));
  return { status: 200, type: EXPOSITION_TYPE, text };
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

function ready(status: StatusFacts): Answer {
  const now = readiness(status);
  return json(now.ready ? 200 : 503, now);
}

function refusal(status: number, error: string): Answer {
  return json(status, { error });
}

function json(status: number, value: unknown): Answer {
  return { status, type: 'application/json', text: `${JSON.stringify(value)}\n` };
}

/** Any port: it may be forwarded. */
function isLoopback(host = ''): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i.test(host);
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, {
    'content-type': answer.type,
    'content-length': Buffer.byteLength(answer.text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...(answer.status === 405 && { allow: 'GET, HEAD' }),
    // A request's body is not read.
    ...(!READS.has(request.method ?? '') && { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? '' : answer.text);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', (cause: NodeJS.ErrnoException) => failed(notListening(port, cause)));
    server.listen(port, '127.0.0.1', done);
  });
}

function notListening(port: number, cause: NodeJS.ErrnoException): CommandError {
  if (cause.code === 'EADDRINUSE') {
    const message =
      `port ${port} of 127.0.0.1 is taken by another program: choose another "status_port", ` +
      'or leave it out.';
    return new CommandError(EXIT.conflict, message, { cause });
  }
  const message = `cannot listen on port ${port} of 127.0.0.1: ${cause.message}.`;
  return new CommandError(EXIT.failure, message, { cause });
}

// The content of `/readyz`: whether work could be served now, and if not, why.

type Readiness =
  | { readonly ready: true; readonly name: string | null; readonly models: number }
  | { readonly ready: false; readonly reason: string };

function readiness({ connection, reason, name, services }: StatusFacts): Readiness {
  if (connection !== 'online') {
    return { ready: false, reason: reason === null ? connection : `${connection}: ${reason}` };
  }
  const models = services.reduce((sum, { models }) => sum + models.length, 0);
  if (models > 0) return { ready: true, name, models };
  const down = services.flatMap(({ id, reason }) => (reason === null ? [] : [`${id}: ${reason}`]));
  return { ready: false, reason: `no model is up. ${down.join('; ')}`.trim() };
}
