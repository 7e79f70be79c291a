/** The most tokens that a share gives for one answer, written into the request of that provider. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';

/**
 * The names of a limit. Every local server reads the first. Ollama does not know the second, and
 * for llama-server the third comes before both, where a negative number is no limit at all.
 */
const LIMITS = ['max_tokens', 'max_completion_tokens', 'n_predict'] as const;

/** The names of a number of texts. llama-server knows the last, and takes it for the first. */
const COUNTS = ['n', 'best_of', 'n_cmpl'] as const;

export interface CappedBody {
  readonly body: Uint8Array;
  /** The cap, where it is less than what was asked for; null where callers get what they ask. */
  readonly maxTokens: number | null;
}

/**
 * `body` is the JSON of a checked request. Lowers what it asks for to the cap, or asks for the cap
 * where it asks for none: an answer that reaches it says so itself, with `finish_reason: length`.
 */
export function capTokens(
  body: Uint8Array,
  endpoint: EndpointKey,
  most: number | null,
): CappedBody {
  const makesText = ENDPOINTS[endpoint].serviceType === 'llm';
  if (most === null || !makesText) return { body, maxTokens: null };
  const request = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
  // None has less than one token: more texts than tokens would be more tokens than the cap.
  const tooMany = COUNTS.filter((name) => countOf(request[name]) > most);
  for (const name of tooMany) request[name] = most;
  const cap = Math.floor(most / choicesOf(request));
  const asked = LIMITS.filter((name) => (request[name] ?? null) !== null);
  const tooMuch = asked.filter((name) => !isWithin(request[name], cap));
  const isGranted = asked.length > 0 && tooMuch.length === 0 && tooMany.length === 0;
  if (isGranted && asked.includes('max_tokens')) return { body, maxTokens: null };
  for (const name of tooMuch) request[name] = cap;
  // Of several, the server may read the one that allows most: this one allows no more than any.
  request['max_tokens'] ??= Math.min(cap, ...asked.map((name) => Number(request[name])));
  const capped = new TextEncoder().encode(JSON.stringify(request));
  return { body: capped, maxTokens: isGranted ? null : cap };
}

/** How many texts are computed: the cap is that of all of them together. */
function choicesOf(request: Record<string, unknown>): number {
  return Math.max(1, ...COUNTS.map((name) => countOf(request[name])));
}

/** Some servers read `"4"` as 4. What is no number at all they refuse. */
function countOf(value: unknown): number {
  const count = Number(value ?? 1);
  return Number.isNaN(count) ? 1 : count;
}

function isWithin(limit: unknown, cap: number): boolean {
  return typeof limit === 'number' && limit >= 1 && limit <= cap;
}
