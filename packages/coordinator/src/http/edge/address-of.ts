import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `http://127.0.0.1:7070`: the host that was asked for, with the port that was given. */
export function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
