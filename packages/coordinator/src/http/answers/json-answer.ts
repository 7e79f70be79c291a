/**
 * A JSON answer: held until it is whole, so that half of one is never sent and any provider can
 * fail.
 */
import type { ServerResponse } from 'node:http';
import { NOTHING_MEASURED } from '../../assets/measures.js';
import type { Measures } from '../../assets/measures.js';
import { isJsonObject, MAX_ANSWER_BYTES } from '../../core/answer-document.js';
import type { Answerer, SinkFault } from '../../dispatch/work.js';
import type { Share } from '../../core/budget.js';
import { GatheredBytes } from '@inference-gateway/shared/gathered-bytes';
import { setAnswerHead } from './answer-headers.js';
import type { HttpAnswer } from './answer.js';

/** The provider's document as the caller gets it. */
export interface Rendered {
  readonly contentType: string;
  readonly body: Buffer;
  readonly measures: Measures;
}

/** Returns a string that says what is wrong where it is not the document that was due. */
export type Render = (document: Buffer) => Rendered | string | Promise<Rendered | string>;

export class JsonAnswer implements HttpAnswer {
  readonly committed = false;
  measures = NOTHING_MEASURED;
  readonly #response: ServerResponse;
  readonly #share: Share;
  readonly #render: Render;
  readonly #body = new GatheredBytes();
  #answerer: Answerer | null = null;

  constructor(response: ServerResponse, share: Share, render: Render = asItIs) {
    this.#response = response;
    this.#share = share;
    this.#render = render;
  }

  begin(answerer: Answerer): void {
    this.#answerer = answerer;
    this.#body.clear();
    this.#share.release();
  }

  part(): string {
    return 'a file where JSON was due';
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    this.#body.append(bytes);
    if (this.#body.length > MAX_ANSWER_BYTES) return 'it is longer than 32 MiB';
    const spent = this.#share.tryAdd(bytes.length);
    if (spent !== null) return spent;
    consumed(bytes.length);
    return null;
  }

  end(): SinkFault | Promise<SinkFault> {
    const rendered = this.#render(this.#body.bytes);
    if (rendered instanceof Promise) return rendered.then((settled) => this.#send(settled));
    return this.#send(rendered);
  }

  fail(): boolean {
    this.#body.clear();
    return false;
  }

  #send(rendered: Rendered | string): string | null {
    if (typeof rendered === 'string') return rendered;
    const { contentType, body, measures } = rendered;
    this.measures = measures;
    const response = this.#response;
    setAnswerHead(response, this.#answerer, contentType);
    response.setHeader('Content-Length', body.length);
    response.end(body);
    return null;
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

function asItIs(body: Buffer): Rendered | string {
  if (!isJsonObject(body)) return 'it is no JSON object';
  return { contentType: JSON_TYPE, body, measures: NOTHING_MEASURED };
}
