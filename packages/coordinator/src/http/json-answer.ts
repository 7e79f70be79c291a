/**
 * A JSON answer: held until it is whole, so that half of one is never sent and any provider can
 * fail.
 */
import type { ServerResponse } from 'node:http';
import type { Answerer, Sink } from '../dispatch/work.js';
import { setAnswerHeaders } from './answer-headers.js';
import { GatheredBytes } from './gathered-bytes.js';

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export class JsonAnswer implements Sink {
  readonly committed = false;
  readonly #response: ServerResponse;
  readonly #body = new GatheredBytes();
  #answerer: Answerer | null = null;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  begin(answerer: Answerer): void {
    this.#answerer = answerer;
    this.#body.clear();
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): string | null {
    this.#body.append(bytes);
    if (this.#body.length > MAX_ANSWER_BYTES) return 'it is longer than 32 MiB';
    consumed(bytes.length);
    return null;
  }

  end(): string | null {
    const body = this.#body.bytes;
    if (!isObject(body)) return 'it is no JSON object';
    const response = this.#response;
    if (this.#answerer !== null) setAnswerHeaders(response, this.#answerer);
    response.statusCode = 200;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', body.length);
    response.end(body);
    return null;
  }
}

function isObject(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
