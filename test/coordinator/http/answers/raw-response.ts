/** A real server's response, whose caller reads only when the test says so. */
import { createServer, get } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface OpenResponse {
  readonly response: ServerResponse;
  /** Resolves once the head of the answer has arrived; by then nothing of its body is read. */
  readonly answer: Promise<IncomingMessage>;
}

export async function openResponse(): Promise<OpenResponse> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const asked = new Promise<ServerResponse>((resolve) => {
    server.once('request', (_, response: ServerResponse) => resolve(response));
  });
  const { port } = server.address() as AddressInfo;
  const answer = new Promise<IncomingMessage>((resolve) => {
    get({ port, host: '127.0.0.1', agent: false }, resolve).on('error', () => {});
  });
  return { response: await asked, answer };
}
