/**
 * The most tokens that a share allows for one answer, written into the request to that provider.
 */
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
  /** What the request asks for now; null if it is unchanged or asks for no text. */
  readonly asked: AskedTokens | null;
  /** The cap, if it is less than what was asked for; null if the caller gets what it asked for. */
  readonly maxTokens: number | null;
}

type Fields = Record<string, unknown>;

/**
 * `body` is the JSON of a validated request. Lowers its limits to the cap, or sets the cap if it
 * names none: an answer that reaches the cap ends with `finish_reason: length`. The cap applies to
 * all answers together, and each prompt gets at least one token.
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
  // If there are several limits, the server may use the highest one: this one exceeds none of them.
  request['max_tokens'] ??= Math.min(cap, ...asked.map((name) => Number(request[name])));
  const capped = writeSparse(request);
  const isCapped = isLowered || asked.length === 0;
  return {
    body: capped,
    asked: askedTokens(endpoint, () => request),
    maxTokens: isCapped ? cap : null,
  };
}

/** A prompt gets at most as many answers as tokens. True if the request asked for more. */
function limitAnswers(request: Fields, most: number): boolean {
  const tooMany = SEQUENCE_COUNTS.filter((name) => answersEach({ n: request[name] }) > most);
  for (const name of tooMany) request[name] = most;
  return tooMany.length > 0;
}

/** True if a limit was above the cap or a field bypassed it. */
function lowerLimits(fields: Fields, cap: number): boolean {
  const isNamed = (name: string): boolean => (fields[name] ?? null) !== null;
  const limits = TOKEN_LIMITS.filter((name) => isNamed(name) && !isWithin(fields[name], 1, cap));
  const floors = TOKEN_FLOORS.filter((name) => isNamed(name) && !isWithin(fields[name], 0, cap));
  for (const name of [...limits, ...floors]) fields[name] = cap;
  return dropFrom(fields, TOKEN_EVADERS) || limits.length + floors.length > 0;
}

/**
 * The same for the objects that a server may read options from, and for those nested in them: a
 * proxy merges `extra_body` into the request. Numbers of answers are removed there.
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
