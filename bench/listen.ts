import type { Server } from 'node:http';

/** Listens on a free port of the loopback interface, and prints it for the parent process. */
export function listen(server: Server): void {
  // Connections stay open between rounds, as behind a proxy.
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', 1_024, () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    process.stdout.write(`ready on http://127.0.0.1:${port}\n`);
  });
}
