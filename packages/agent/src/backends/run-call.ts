/**
 * One request to any server that speaks OpenAI's API, from the caller's body to the clean answer.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { notServed } from '../openai-wire/error-document.js';
import { readAnswer } from '../openai-wire/local-answer.js';
import { shapeRequest } from '../openai-wire/request-body.js';
import type { LocalAnswer, LocalCall } from './backend.js';
import type { Dialect } from './openai/dialect.js';
import { forward } from './forward.js';
import { forwardToEnd } from './outlive.js';

export interface CallTarget {
  /** With `/v1`, where the server has it. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly dropFields: ReadonlySet<string>;
  /** What is special about the server; absent where nothing is. */
  readonly dialect?: Dialect;
  /** Of a server that names its own model in answers: what it may call it. */
  readonly names?: ReadonlySet<string> | null;
}

/** Chat and completions. Throws a `LocalFailure`, or what the call's signal was aborted with. */
export async function runCall(target: CallTarget, call: LocalCall): Promise<LocalAnswer> {
  if (ENDPOINTS[call.endpoint].serviceType !== 'llm') return notServed(call);
  const request = shapeRequest(call, target.dropFields, target.dialect);
  const isLasting = target.dialect?.outlives?.includes(call.endpoint) === true;
  const raw = await (isLasting ? forwardToEnd : forward)({
    url: target.baseUrl + ENDPOINTS[call.endpoint].path,
    apiKey: target.apiKey,
    body: request.body,
    signal: call.signal,
  });
  try {
    // Some versions name what they were asked for.
    const names = target.names && new Set([...target.names, call.model.served_name]);
    return await readAnswer(raw, { ...request.wish, ...(names && { names }) });
  } catch (error) {
    // What makes no sense is not read to its end, which may never come.
    raw.body.abandon();
    throw error;
  }
}
