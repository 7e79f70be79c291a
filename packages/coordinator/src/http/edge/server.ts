/** The HTTP server of the API, and how it ends. */
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';

/**
 * Longer than the keep-alive of any proxy in front, which would otherwise send a POST into a
 * closing connection.
 */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 300_000;

/** The listen backlog: after a restart, a thousand agents connect within a second. */
const BACKLOG = 4_096;

/** Rejects with Node's own error if listening fails. */
export async function listen(
  handler: RequestListener,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<Server> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      noDelay: true,
    },
    handler,
  );
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen({ port, host, backlog: BACKLOG }, done);
  });
  return server;
}

/**
 * Accepts no new connection, and resolves when the last one has ended; idle ones are closed.
 */
export async function closeServer(server: Server): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
}
