/** One configured server while it is asked what it serves: GET alone, one question at a time. */
import { asObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { ServiceConfig } from '../backend.js';
import { checkAnswer } from '../check-answer.js';
import type { AskedServer } from './dialect.js';
import { probe } from '../probe.js';
import { serverRoot } from '../server-root.js';

/** The questions end with the signal. */
export function askedServer(service: ServiceConfig, signal: AbortSignal): AskedServer {
  const { type, baseUrl, apiKey } = service;
  const ask = (url: string) => probe(url, { apiKey, signal });
  return {
    type,
    baseUrl,
    root: serverRoot(baseUrl),
    async get(url) {
      const answer = await ask(url);
      checkAnswer(answer, url);
      if (answer.status < 300 && isSuccess(answer.json)) return answer.json;
      throw new LocalFailure(
        'LOCAL_ERROR',
        `${url} did not answer as it should (status ${answer.status}). Check the base URL.`,
      );
    },
    async find(url) {
      const { status, json } = await ask(url);
      return status === 200 && isSuccess(json) ? json : null;
    },
  };
}

/**
 * LM Studio answers 200 to every path, with an error in it where there is no such path; others
 * have `error: null` in every answer.
 */
function isSuccess(json: unknown): boolean {
  return json !== undefined && (asObject(json)?.['error'] ?? null) === null;
}
