/** What stands in front of several coordinators: connects each caller to the next of them. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

export interface Front {
  readonly origin: string;
  close(): void;
}

export async function startFront(origins: readonly string[]): Promise<Front> {
  let turn = 0;
  const server = createServer((caller) => {
    const { hostname, port } = new URL(origins[turn++ % origins.length] ?? '');
    const coordinator = connect(Number(port), hostname);
    for (const [one, other] of [
      [caller, coordinator],
      [coordinator, caller],
    ] as const) {
      one.setNoDelay(true);
      one.pipe(other);
      one.once('error', () => one.destroy()).once('close', () => other.destroy());
    }
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

function listening(server: Server): Promise<void> {
  return new Promise((done) => server.listen(0, '127.0.0.1', 1_024, done));
}
