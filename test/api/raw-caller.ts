/** A caller that writes its own HTTP/1.1, for requests that no correct client sends. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

/** The gateway's address, and the key to call it with. */
export interface CalledGateway {
  readonly address: string;
  readonly anna: Pick<TestGateway['anna'], 'key'>;
}

export class RawCaller {
  readonly socket: Socket;
  received = '';
  ended = false;
  reset = false;

  readonly #gateway: CalledGateway;

  constructor(gateway: CalledGateway) {
    this.#gateway = gateway;
    const { hostname, port } = new URL(gateway.address);
    this.socket = connect(Number(port), hostname);
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.received += text;
    });
    this.socket.on('end', () => {
      this.ended = true;
    });
    this.socket.on('error', () => {
      this.reset = true;
    });
    onTestFinished(() => void this.socket.destroy());
  }

  /** Sends the head of a request; the test sends the body. */
  head(line: string, headers: Readonly<Record<string, string | number>>): this {
    const lines = Object.entries({ host: 'gateway', ...headers });
    const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.socket.write(`${line} HTTP/1.1\r\n${text}\r\n`);
    return this;
  }

  /** Sends the head of a JSON POST with this key. */
  post(key: string, headers: Readonly<Record<string, string | number>>): this {
    return this.head('POST /v1/chat/completions', {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...headers,
    });
  }

  /** Sends a complete request with Anna's key. */
  send(body: object): this {
    const text = JSON.stringify(body);
    this.post(this.#gateway.anna.key, { 'content-length': Buffer.byteLength(text) });
    this.socket.write(text);
    return this;
  }

  /** Sends one chunk of a chunked body. */
  chunk(text: string): void {
    this.socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  }

  /** Resolves with the status once the head of the answer has arrived. */
  async status(): Promise<number> {
    await until(() => this.received.includes('\r\n\r\n'), { what: 'the head of an answer' });
    return Number(this.received.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  }

  /** Sends a second request on the same connection; resolves with its status. */
  listsModels(): Promise<number> {
    this.received = '';
    const authorization = `Bearer ${this.#gateway.anna.key}`;
    return this.head('GET /v1/models', { authorization }).status();
  }
}
