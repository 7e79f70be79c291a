/** Converts a local server's refusal, in any form, into OpenAI's error object. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { MisspelledName } from '@inference-gateway/shared/openai/field-names';
import { messageFor } from '@inference-gateway/shared/openai/field-names';
import type { DocumentAnswer, LocalCall } from '../backends/backend.js';
import { asObject, asText, parseJson, asObjects } from './json.js';
import type { JsonObject } from './json.js';

/** The body of an answer with a status of 400 or more: JSON of any form, an HTML page, or text. */
export function errorDocument(status: number, text: string): DocumentAnswer {
  // Some servers refuse a stream with a single event.
  const value = parseJson(text) ?? parseJson(text.trim().replace(/^(?:data|error):/, ''));
  return documentOf(status, readReportedError(value) ?? plainError(status, value, text));
}

/** An error in an answer with a success status, as LM Studio sends for unknown paths. */
export function errorInSuccess(error: ReportedError): DocumentAnswer {
  return documentOf(error.status ?? 500, error);
}

/** A request that the agent itself refuses. */
export function refusal(
  status: number,
  message: string,
  detail: { readonly code: string; readonly param?: string },
): DocumentAnswer {
  const type = 'invalid_request_error';
  const error = { message, type, code: detail.code, param: detail.param ?? null };
  return { kind: 'document', status, json: JSON.stringify({ error }), usage: null };
}

/** The service cannot serve the endpoint. */
export function notServed({ endpoint, model }: LocalCall): DocumentAnswer {
  const message = `${model.id} does not serve ${ENDPOINTS[endpoint].path} here.`;
  return refusal(404, message, { code: 'model_not_found', param: 'model' });
}

/** A media URL that a model server would fetch inside the home network. */
export function foreignUrl(param: string): DocumentAnswer {
  return refusal(400, `${param} is not a data: URL. Send the media itself as a data: URL.`, {
    code: 'unsupported_value',
    param,
  });
}

/** A name that a server in Go would read as a different field. */
export function misspelledName(found: MisspelledName): DocumentAnswer {
  const { path: param } = found;
  return refusal(400, messageFor(found), { code: 'invalid_value', param });
}

function documentOf(status: number, reported: ReportedError): DocumentAnswer {
  if (isContextOverflow(status, reported)) {
    return refusal(400, withoutPaths(reported.message), { code: 'context_length_exceeded' });
  }
  if (saysCallersMistake(status, reported)) {
    const { param } = reported;
    const detail = { code: 'provider_rejected', ...(param !== null && { param }) };
    return refusal(400, withoutPaths(reported.message), detail);
  }
  const { param } = reported;
  const message = withoutPaths(reported.message);
  const isRefusal = status === 400 || status === 422;
  const type = isRefusal || status < 500 ? 'invalid_request_error' : 'server_error';
  const error = {
    message,
    type: isRefusal ? type : (reported.type ?? type),
    code: isRefusal ? 'provider_rejected' : reported.code,
    param,
  };
  return { kind: 'document', status, json: JSON.stringify({ error }), usage: null };
}

/** The statuses of servers for a prompt that is too long; LM Studio and TabbyAPI use 500. */
const OVERFLOW_STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** In lower case, from llama-server, vLLM, SGLang, LM Studio and TabbyAPI in this order. */
const OVERFLOW_PHRASES = [
  'available context size',
  'maximum context length',
  'maximum model length',
  "model's context length",
  'when context the overflows',
  'greater than max_seq_len',
  'context window',
  'exceeds the context',
];

const OVERFLOW_NAMES: ReadonlySet<string | null> = new Set([
  'exceed_context_size_error',
  'context_length_exceeded',
]);

function isContextOverflow(status: number, { message, type, code }: ReportedError): boolean {
  if (!OVERFLOW_STATUSES.has(status)) return false;
  if (OVERFLOW_NAMES.has(type) || OVERFLOW_NAMES.has(code)) return true;
  const text = message.toLowerCase();
  return OVERFLOW_PHRASES.some((phrase) => text.includes(phrase));
}

/**
 * Error texts of servers that answer a caller's mistake with a server error status. Reported as
 * server failures, five of these would close the model to its callers, and a job would be retried.
 * One row per server; a text that only may mean a caller's mistake must not be listed.
 */
const CALLERS_MISTAKES: readonly RegExp[] = [
  // llama-server, and proxies in front of it: input that its model does not take, media that it
  // cannot read, tools and schemas that its template or grammar does not support.
  /\b(?:image|audio|video) input is not supported\b/i,
  /^Invalid url (?:value|format)|^url must be base64 encoded/i,
  /\bfailed to load (?:image|audio)\b/i,
  /\b(?:tools|tool_choice) param requires --jinja\b/i,
  /^Cannot use (?:both json_schema and grammar|custom grammar)/i,
  /\bfailed to parse (?:messages|tools|grammar)\b/i,
  /\bJSON schema conversion failed\b/i,
  /\bJinja exception\b|\bconversation roles must alternate\b|\braise_exception\b/i,
  // nlohmann's JSON library reports errors in the request with these (llama-server, sd-server,
  // whisper-server); 316, text that is not UTF-8, concerns its own answer.
  /\[json\.exception\.(?:parse_error|out_of_range|type_error\.30\d)/,
  /^sto(?:f|i|l|ul|ull)$/,
  // Ollama.
  /\bmissing data required for (?:image|audio) input\b/i,
  /\bimage: unknown format\b/i,
  // vLLM and SGLang: refusals, which a proxy in front of them reports as its own failure.
  /\bAt most \d+ (?:image|audio|video)\(s\) may be provided\b/i,
  /\bis not a multi-?modal model\b/i,
  // LM Studio, LocalAI, Lemonade: about the model, or about this server.
  /\bvision add-on is not loaded\b/i,
  /\bdoes(?: not|n't) support (?:image|audio|video|vision|multi-?modal|tool)(?:s|\b)/i,
  /\b(?:images?|audio|vision|multi-?modal) (?:is|are|inputs? is|inputs? are) not supported\b/i,
  // whisper-server with --convert, and Stable Diffusion's web UI.
  /\bFFmpeg conversion failed\b/,
  /\bInvalid encoded image\b/i,
];

/** KoboldCpp's error type for unreadable requests. */
const MISTAKE_TYPE = 'bad_input';

/** 503 means "not now" with any text. */
function saysCallersMistake(status: number, { message, type }: ReportedError): boolean {
  if (status < 500 || status === 503) return false;
  if (type === MISTAKE_TYPE) return true;
  return CALLERS_MISTAKES.some((said) => said.test(message));
}

function plainError(status: number, value: unknown, text: string): ReportedError {
  const said = asText(asObject(value)?.['message']) ?? visibleText(text);
  const message = said === '' ? `The local server answered ${status} without a message.` : said;
  const nothing = { type: null, code: null, param: null, status: null };
  return { ...nothing, message: message.slice(0, MAX_MESSAGE_CHARACTERS) };
}

/** Limit of characters read from an error page. */
const MAX_PAGE_CHARACTERS = 20_000;

/** The visible text of an HTML page; plain text stays unchanged. */
function visibleText(text: string): string {
  const page = text.slice(0, MAX_PAGE_CHARACTERS).trim();
  if (!page.startsWith('<')) return page;
  return page
    .replace(/<(script|style|head)\b[^]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Where an absolute path begins: on a drive, a share, in the home folder, in a file URL, or at the
 * root; paths of an API (`/v1/…`) and pointers into JSON (`/0/…`) are not matched.
 */
const START = [
  String.raw`(?<!\w)[A-Za-z]:[\\/]`,
  String.raw`(?<!\\)\\\\(?=[\w.-]+\\)`,
  String.raw`~[\\/]`,
  String.raw`\bfile:/`,
  String.raw`(?<![\w/.\-)\]}])\/(?!(?:v\d+|api|messages|\d+)\/)(?=[^\s/]+\/)`,
].join('|');

/** To the end of its line or quotation: names may contain spaces. */
const PATH = new RegExp(`(?:${START})[^'"\`\\n]*`, 'g');

/**
 * A local server's message without paths of its owner's machine: callers may learn what failed, but
 * not the owner's name and folders (Ollama: `unable to load model: /home/…/sha256-…`).
 */
export function withoutPaths(text: string): string {
  return text.replaceAll(PATH, '…').trim();
}

// Reads the six forms in which local servers report errors.

export interface ReportedError {
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** The HTTP status in the object itself, as LM Studio and llama-server write it. */
  readonly status: number | null;
}

const MAX_MESSAGE_CHARACTERS = 2_000;

/**
 * Reads `{error: {message, …}}`, `{error: "text"}`, `{object: "error", message}` (SGLang, older
 * vLLM) and `{detail: …}` (FastAPI; KoboldCpp's has `msg`, chatterbox-tts-api's has OpenAI's whole
 * object). Null if the value is not an error.
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

/** sd-server's `error` is a code such as `server_error`; another field has the message. */
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
