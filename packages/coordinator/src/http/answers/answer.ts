/** The answer of one call on its way to an HTTP caller. */
import type { ApiError } from '@inference-gateway/shared/errors';
import type { ServerResponse } from 'node:http';
import type { Measures } from '../../assets/measures.js';
import type { Sink, Answerer } from '../../run/work.js';

export interface HttpAnswer extends Sink {
  /** Of an answer that ended well. */
  readonly measures: Measures;
  /**
   * The call has failed, or its caller has left (null): what was gathered is dropped. True if
   * the caller was told here, or cannot be told any more; else the boundary tells it.
   */
  fail(error: ApiError | null): boolean;
}

// What every answer of a provider tells the caller about its way.

export function setAnswerHeaders(response: ServerResponse, answerer: Answerer): void {
  response.setHeader('x-provider', encodeURIComponent(answerer.providerName));
  response.setHeader('x-attempts', String(answerer.attempt));
  if (answerer.spent !== null) {
    const { queueMs, overheadMs } = answerer.spent;
    response.setHeader('x-queue-ms', String(Math.round(queueMs)));
    response.setHeader('x-gateway-overhead-ms', String(Math.round(overheadMs)));
  }
  // A provider that took over may have no such limit.
  if (answerer.maxTokens === null) response.removeHeader('x-max-tokens');
  else response.setHeader('x-max-tokens', String(answerer.maxTokens));
}

/** Of an answer that is whole before its head goes out: a stream says it in its usage. */
export function setUsageHeader(response: ServerResponse, isEstimated: boolean): void {
  if (isEstimated) response.setHeader('x-usage', 'estimated');
  else response.removeHeader('x-usage');
}

/** The head of an answer that ends well: written with its first byte. */
export function setAnswerHead(
  response: ServerResponse,
  answerer: Answerer | null,
  contentType: string,
): void {
  if (answerer !== null) setAnswerHeaders(response, answerer);
  response.statusCode = 200;
  response.setHeader('Content-Type', contentType);
}
