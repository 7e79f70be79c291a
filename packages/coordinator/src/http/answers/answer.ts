/** The answer of a call to an HTTP caller. */
import type { ApiError } from '@inference-gateway/shared/errors';
import type { ServerResponse } from 'node:http';
import type { Measures } from '../../assets/measures.js';
import type { Sink, Answerer } from '../../run/work.js';

export interface HttpAnswer extends Sink {
  /** The answer has ended successfully. */
  readonly measures: Measures;
  /**
   * The call has failed, or its caller has left (null): collected data is dropped. True if the
   * error was sent here, or cannot be sent any more; else the error boundary sends it.
   */
  fail(error: ApiError | null): boolean;
}

// Headers of every answer of a provider.

export function setAnswerHeaders(response: ServerResponse, answerer: Answerer): void {
  response.setHeader('x-provider', encodeURIComponent(answerer.providerName));
  // Readable: names of models hold `/` and `:`, which a header may.
  response.setHeader('x-model', encodeURI(wellFormed(answerer.model)));
  response.setHeader('x-attempts', String(answerer.attempt));
  if (answerer.spent !== null) {
    const { queueMs, overheadMs } = answerer.spent;
    response.setHeader('x-queue-ms', String(Math.round(queueMs)));
    response.setHeader('x-gateway-overhead-ms', String(Math.round(overheadMs)));
  }
  // A provider that replaced another may have no such limit.
  if (answerer.maxTokens === null) response.removeHeader('x-max-tokens');
  else response.setHeader('x-max-tokens', String(answerer.maxTokens));
}

/**
 * Names of models and voices come from agents: encoding half of a surrogate pair would throw, and
 * fail others' calls.
 */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** Only for an answer that is complete before its head is sent: a stream has it in its usage. */
export function setUsageHeader(response: ServerResponse, isEstimated: boolean): void {
  if (isEstimated) response.setHeader('x-usage', 'estimated');
  else response.removeHeader('x-usage');
}

/** The head of a successful answer, written with its first byte. */
export function setAnswerHead(
  response: ServerResponse,
  answerer: Answerer | null,
  contentType: string,
): void {
  if (answerer !== null) setAnswerHeaders(response, answerer);
  response.statusCode = 200;
  response.setHeader('Content-Type', contentType);
}
