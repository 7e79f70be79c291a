/** A local server's answer that advances only when the test says so. */
import type { ServerResponse } from 'node:http';
import type { Behaviour, FakeRequest } from '../support/fake-model-server.js';
import { until } from '../support/until.js';

/** One chunk of a local server's stream. */
export function chunkOf(content: string, finish: string | null = null): string {
  const delta = content === '' ? {} : { content };
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'held-1', choices })}\n\n`;
}

export class HeldAnswer {
  #response: ServerResponse | null = null;
  request: FakeRequest | null = null;

  readonly behaviour: Behaviour = (request, response) => {
    this.request = request;
    this.#response = response;
  };

  /** Resolves once the local server has received the request. */
  async asked(): Promise<FakeRequest> {
    return until(() => this.request, { what: 'a request at the local server' });
  }

  get abortedAt(): number | null {
    return this.request?.abortedAt ?? null;
  }

  /** Sends one chunk of a stream; the first one sends the headers too. */
  chunk(text: string, finish: string | null = null): void {
    this.bytes(chunkOf(text, finish));
  }

  /** Ends the stream as a local server does. */
  finish(): void {
    this.chunk('', 'stop');
    this.bytes('data: [DONE]\n\n');
    this.#answer.end();
  }

  bytes(text: string): void {
    if (!this.#answer.headersSent) {
      this.#answer.writeHead(200, { 'content-type': 'text/event-stream' });
    }
    this.#answer.write(text);
  }

  cut(): void {
    this.#answer.destroy();
  }

  get #answer(): ServerResponse {
    if (this.#response === null) throw new Error('nobody asked yet');
    return this.#response;
  }
}
