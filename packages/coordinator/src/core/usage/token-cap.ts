/** The most tokens that a share gives for one answer, written into the request of that provider. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { kindOf, promptsOf } from '@inference-gateway/shared/openai/kinds';
import {
  answersEach,
  CANDIDATE_COUNTS,
  isFields,
  OPTION_OBJECTS,
  SEQUENCE_COUNTS,
  TOKEN_EVADERS,
  TOKEN_FLOORS,
  TOKEN_LIMITS,
} from '@inference-gateway/shared/openai/tokens';
import { askedTokens } from './usage-bounds.js';
import type { AskedTokens } from './usage-bounds.js';
import { readSparse, writeSparse } from '@inference-gateway/shared/json/sparse';

export interface CappedBody {
  readonly body: Uint8Array;
  /** What it asks for by now; null if it is as it was, or asks for no text. */
  readonly asked: AskedTokens | null;
  /** The cap, where it is less than what was asked for; null if callers get what they ask. */
  readonly maxTokens: number | null;
}

type Fields = Record<string, unknown>;

/**
 * `body` is the JSON of a checked request. Lowers what it asks for to the cap, or asks for the cap
 * where it asks for none: an answer that reaches it says so itself, with `finish_reason: length`.
 * The cap is that of all answers together, and each prompt has one token at least.
 */
export function capTokens(
  body: Uint8Array,
  endpoint: EndpointKey,
  most: number | null,
): CappedBody {
  if (most === null || kindOf(endpoint).text === null) {
    return { body, asked: null, maxTokens: null };
  }
  const request = readSparse(body);
  const prompts = promptsOf(endpoint, request).length;
  const isThinned = limitAnswers(request, Math.max(1, Math.floor(most / prompts)));
  const cap = Math.max(1, Math.floor(most / (prompts * answersEach(request))));
  const isLowered = lowerLimits(request, cap) || isThinned;
  const isTidied = [dropFrom(request, CANDIDATE_COUNTS), lowerOptions(request, cap)].includes(true);
  if (!isLowered && !isTidied && isNumber(request['max_tokens'])) {
    return { body, asked: null, maxTokens: null };
  }
  const asked = TOKEN_LIMITS.filter((name) => isNumber(request[name]));
  // Of several, the server may read the one that allows most: this one allows no more than any.
  request['max_tokens'] ??= Math.min(cap, ...asked.map((name) => Number(request[name])));
  const capped = writeSparse(request);
  const isCapped = isLowered || asked.length === 0;
  return {
    body: capped,
    asked: askedTokens(endpoint, () => request),
    maxTokens: isCapped ? cap : null,
  };
}

/** No prompt has more answers than tokens. True if one was to have more. */
function limitAnswers(request: Fields, most: number): boolean {
  const tooMany = SEQUENCE_COUNTS.filter((name) => answersEach({ n: request[name] }) > most);
  for (const name of tooMany) request[name] = most;
  return tooMany.length > 0;
}

/** True if anything was more than the cap, or put it out of force. */
function lowerLimits(fields: Fields, cap: number): boolean {
  const isNamed = (name: string): boolean => (fields[name] ?? null) !== null;
  const limits = TOKEN_LIMITS.filter((name) => isNamed(name) && !isWithin(fields[name], 1, cap));
  const floors = TOKEN_FLOORS.filter((name) => isNamed(name) && !isWithin(fields[name], 0, cap));
  for (const name of [...limits, ...floors]) fields[name] = cap;
  return dropFrom(fields, TOKEN_EVADERS) || limits.length + floors.length > 0;
}

/**
 * The same in the objects in which a server may look, and in those inside of them: a proxy puts
 * what is in `extra_body` on top. Numbers of answers have no place there.
 */
function lowerOptions(request: Fields, cap: number): boolean {
  const found = OPTION_OBJECTS.map((name) => request[name]).filter(isFields);
  const lowered = found.map((options) => {
    const isDropped = dropFrom(options, [...SEQUENCE_COUNTS, ...CANDIDATE_COUNTS]);
    return [lowerLimits(options, cap), lowerOptions(options, cap), isDropped].includes(true);
  });
  return lowered.includes(true);
}

function dropFrom(fields: Fields, names: readonly string[]): boolean {
  const found = names.filter((name) => name in fields);
  for (const name of found) delete fields[name];
  return found.length > 0;
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function isWithin(limit: unknown, least: number, cap: number): boolean {
  return typeof limit === 'number' && limit >= least && limit <= cap;
}
