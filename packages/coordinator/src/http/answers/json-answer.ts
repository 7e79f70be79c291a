/**
 * A JSON answer: held until it is complete, so that no partial answer is sent and another provider
 * can be tried.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { ServerResponse } from 'node:http';
import { NOTHING_MEASURED } from '../../assets/measures.js';
import type { Measures } from '../../assets/measures.js';
import { HeldDocument } from '../../core/usage/held-document.js';
import type { Answerer, SinkFault } from '../../run/work.js';
import type { Share } from '../../core/usage/budget.js';
import type { MeteredTokens } from '../../core/usage/usage-bounds.js';
import { setAnswerHead, setUsageHeader } from './answer.js';
import type { HttpAnswer } from './answer.js';

/** The provider's document in the form for the caller. */
export interface Rendered {
  readonly contentType: string;
  readonly body: Buffer;
  readonly measures: Measures;
}

/**
 * Returns a string with the error if the document is invalid, and an `ApiError` if it is valid but
 * cannot fulfil the caller's request.
 */
export type Render = (document: Buffer) => Outcome | Promise<Outcome>;
type Outcome = Rendered | ApiError | string;

export class JsonAnswer implements HttpAnswer {
  readonly committed = false;
  measures = NOTHING_MEASURED;
  readonly #response: ServerResponse;
  readonly #render: Render | null;
  readonly #document: HeldDocument;
  #answerer: Answerer | null = null;

  /** `render`: null if the caller gets the provider's document as it is. */
  constructor(response: ServerResponse, share: Share, render: Render | null = null) {
    this.#response = response;
    this.#document = new HeldDocument(share);
    this.#render = render;
  }

  begin(answerer: Answerer): void {
    this.#answerer = answerer;
    this.#document.clear();
  }

  part(): string {
    return 'a file where JSON was due';
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    const fault = this.#document.append(bytes);
    if (fault === null) consumed(bytes.length);
    return fault;
  }

  end({ estimated }: MeteredTokens): SinkFault | Promise<SinkFault> {
    if (this.#document.fault !== null) return this.#document.fault;
    setUsageHeader(this.#response, estimated);
    if (this.#render === null) return this.#sendAsItIs();
    const rendered = this.#render(this.#document.bytes);
    if (rendered instanceof Promise) return rendered.then((settled) => this.#send(settled));
    return this.#send(rendered);
  }

  fail(): boolean {
    this.#document.clear();
    return false;
  }

  #sendAsItIs(): SinkFault {
    const response = this.#response;
    const { pieces, length } = this.#document;
    setAnswerHead(response, this.#answerer, JSON_TYPE);
    response.setHeader('Content-Length', length);
    response.cork();
    for (const piece of pieces) response.write(piece);
    response.end();
    response.uncork();
    return null;
  }

  #send(rendered: Outcome): SinkFault {
    if (typeof rendered === 'string' || rendered instanceof ApiError) return rendered;
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
