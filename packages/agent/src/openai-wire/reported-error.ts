/** How local servers say that something went wrong: six shapes in the field, read into one. */
import { asObject, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';

export interface ReportedError {
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** The HTTP status that the object itself names, as LM Studio's and llama-server's do. */
  readonly status: number | null;
}

export const MAX_MESSAGE_CHARACTERS = 2_000;

/**
 * Reads `{error: {message, …}}`, `{error: "text"}`, `{object: "error", message}` (SGLang, older
 * vLLM) and `{detail: …}` (FastAPI; KoboldCpp's has `msg`, chatterbox-tts-api's OpenAI's whole
 * object). Null where the value is no error.
 */
export function readReportedError(value: unknown): ReportedError | null {
  const body = asObject(value);
  if (body === null) return null;
  const { error, detail } = body;
  if (typeof error === 'string') return reported({ ...body, message: sentenceOf(error, body) });
  const nested = asObject(error);
  if (nested !== null) return reported(nested);
  const isFlat = error === true || body['object'] === 'error';
  if (isFlat) return reported(body);
  if ('choices' in body || detail === undefined || detail === null) return null;
  const inner = asObject(asObject(detail)?.['error']);
  if (inner !== null) return reported(inner);
  return reported({ ...asObject(detail), message: detailText(detail) });
}

/** sd-server's `error` is a word such as `server_error`, and what went wrong stands beside it. */
function sentenceOf(error: string, { message }: JsonObject): string {
  return /^\w+$/.test(error) ? (asText(message) ?? error) : error;
}

function reported(error: JsonObject): ReportedError {
  const { message, msg, type, code, param } = error;
  const text = asText(message) ?? asText(msg) ?? JSON.stringify(error);
  return {
    message: text.slice(0, MAX_MESSAGE_CHARACTERS),
    type: asText(type),
    code: asText(code),
    param: asText(param),
    status: isErrorStatus(code) ? code : null,
  };
}

function isErrorStatus(code: unknown): code is number {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599;
}

/** FastAPI's validation errors are a list of `{loc: ["body", "messages"], msg}`. */
function detailText(detail: unknown): string {
  if (typeof detail === 'string') return detail;
  const problems = asObjects(detail).map(({ loc, msg }) => {
    const place = Array.isArray(loc) ? `${loc.join('.')}: ` : '';
    return `${place}${asText(msg) ?? 'not valid'}`;
  });
  if (problems.length > 0) return problems.join('; ');
  const { message, msg } = asObject(detail) ?? {};
  return asText(message) ?? asText(msg) ?? JSON.stringify(detail);
}
