/** A caller that sends a chat request and never reads a byte of the answer. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { TestGateway } from './gateway.js';

export function silentCaller(gateway: TestGateway, fields: object): Socket {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'hello' }], ...fields });
  const { hostname, port } = new URL(gateway.address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${gateway.anna.key}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}
