import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { AnswerReader } from '../../bench/load/answer-reader.js';
import { jsonRequest } from '../../bench/load/chat-request.js';
import { Connection } from '../../bench/load/connection.js';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const PLAIN = `${HEAD}Content-Length: 5\r\n\r\nhello`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`;
const EMPTY = `${HEAD}Content-Length: 0\r\n\r\n`;

test.each([1, 2, 3, 7, 1_000])('answers are read whole from pieces of %i bytes', (size) => {
  const bytes = Buffer.from(PLAIN + CHUNKED + EMPTY + PLAIN);
  const answers: string[] = [];
  let body = '';
  const reader = new AnswerReader({
    body: (part) => (body += part.toString()),
    end: (status) => {
      answers.push(`${status} ${body}`);
      body = '';
    },
  });
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  expect(answers).toEqual(['200 hello', '200 hello world', '200 ', '200 hello']);
});

test('one connection carries request after request to a real server', async () => {
  const ports = new Set<number | undefined>();
  const origin = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    request.resume().on('end', () => {
      response.write('a');
      response.end('b');
    });
  });
  const connection = open(origin);
  for (let i = 0; i < 3; i++) {
    let body = '';
    await connection.send(jsonRequest({ origin, headers: {} }), (part) => {
      body += part.toString();
    });
    expect(body).toBe('ab');
  }
  expect(ports.size).toBe(1);
});

test('an answer other than 200 fails with its status and text', async () => {
  const origin = await serve((_, response) => response.writeHead(429).end('slow down'));
  const sent = open(origin).send(jsonRequest({ origin, headers: {} }));
  await expect(sent).rejects.toThrow('answer 429: slow down');
});

test('a connection that ends within an answer fails', async () => {
  const origin = await serve((_, response) => {
    response.write('half', () => response.destroy());
  });
  const sent = open(origin).send(jsonRequest({ origin, headers: {} }));
  await expect(sent).rejects.toThrow(/closed|ECONNRESET/);
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(origin: string): Connection {
  const connection = new Connection(origin);
  onTestFinished(() => connection.close());
  return connection;
}
