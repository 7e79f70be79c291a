/** A local server's refusal, whatever its shape, as OpenAI's error object. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { MisspelledName } from '@inference-gateway/shared/openai/field-names';
import { messageFor } from '@inference-gateway/shared/openai/field-names';
import type { DocumentAnswer, LocalCall } from '../backends/backend.js';
import { asObject, asText, parseJson, asObjects } from './json.js';
import type { JsonObject } from './json.js';

/** The body of an answer with a status of 400 or more: JSON of any shape, an HTML page, or text. */
export function errorDocument(status: number, text: string): DocumentAnswer {
  // Some servers refuse a stream with a single event.
  const value = parseJson(text) ?? parseJson(text.trim().replace(/^(?:data|error):/, ''));
  return documentOf(status, readReportedError(value) ?? plainError(status, value, text));
}

/** An error found inside an answer that claimed success, as LM Studio sends to unknown paths. */
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

/** The service does not have what the endpoint asks for. */
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

/** A name that a server in Go would read as another one. */
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

/**
 * The statuses with which servers refuse a prompt that is too long; LM Studio's and TabbyAPI's is
 * 500.
 */
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
 * What servers say with a status of their own failure where the request is what is wrong. Told as
 * their failure, five of these would close the model to its callers, and a job would send them
 * again. One row a server; a message that is merely likely to mean it has no place here.
 */
const CALLERS_MISTAKES: readonly RegExp[] = [
  // llama-server, and what has one behind it: input that its model does not take, media that it
  // cannot read, tools and schemas that its template or grammar has no form for.
  /\b(?:image|audio|video) input is not supported\b/i,
  /^Invalid url (?:value|format)|^url must be base64 encoded/i,
  /\bfailed to load (?:image|audio)\b/i,
  /\b(?:tools|tool_choice) param requires --jinja\b/i,
  /^Cannot use (?:both json_schema and grammar|custom grammar)/i,
  /\bfailed to parse (?:messages|tools|grammar)\b/i,
  /\bJSON schema conversion failed\b/i,
  /\bJinja exception\b|\bconversation roles must alternate\b|\braise_exception\b/i,
  // nlohmann's JSON library reads the request with these (llama-server, sd-server, whisper-server);
  // 316, text that is no UTF-8, is of its own answer.
  /\[json\.exception\.(?:parse_error|out_of_range|type_error\.30\d)/,
  /^sto(?:f|i|l|ul|ull)$/,
  // Ollama.
  /\bmissing data required for (?:image|audio) input\b/i,
  /\bimage: unknown format\b/i,
  // vLLM and SGLang: refusals, which a proxy before them tells as its own failure.
  /\bAt most \d+ (?:image|audio|video)\(s\) may be provided\b/i,
  /\bis not a multi-?modal model\b/i,
  // LM Studio, LocalAI, Lemonade: of the model, or of this server.
  /\bvision add-on is not loaded\b/i,
  /\bdoes(?: not|n't) support (?:image|audio|video|vision|multi-?modal|tool)(?:s|\b)/i,
  /\b(?:images?|audio|vision|multi-?modal) (?:is|are|inputs? is|inputs? are) not supported\b/i,
  // whisper-server with --convert, and Stable Diffusion's web UI.
  /\bFFmpeg conversion failed\b/,
  /\bInvalid encoded image\b/i,
];

/** KoboldCpp's type of what it cannot read. */
const MISTAKE_TYPE = 'bad_input';

/** 503 is "not now", whatever is said with it. */
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

/** Reads no further into an error page than this. */
const MAX_PAGE_CHARACTERS = 20_000;

/** The words of an HTML page; plain text stays as it is. */
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
 * Where an absolute path begins: on a drive, a share, in the home folder, in an address of a file,
 * or at the root, where paths of an API (`/v1/…`) and pointers into JSON (`/0/…`) are none.
 */
const START = [
  String.raw`(?<!\w)[A-Za-z]:[\\/]`,
  String.raw`(?<!\\)\\\\(?=[\w.-]+\\)`,
  String.raw`~[\\/]`,
  String.raw`\bfile:/`,
  String.raw`(?<![\w/.\-)\]}])\/(?!(?:v\d+|api|messages|\d+)\/)(?=[^\s/]+\/)`,
].join('|');

/** To the end of its line or quotation: names may hold spaces. */
const PATH = new RegExp(`(?:${START})[^'"\`\\n]*`, 'g');

/**
 * A local server's words without paths of its owner's machine: what failed is for callers to know,
 * and their owner's name and folders are not (Ollama: `unable to load model: /home/…/sha256-…`).
 */
export function withoutPaths(text: string): string {
  return text.replaceAll(PATH, '…').trim();
}

// How local servers say that something went wrong: six shapes in the field, read into one.

export interface ReportedError {
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** The HTTP status that the object itself names, as LM Studio's and llama-server's do. */
  readonly status: number | null;
}

const MAX_MESSAGE_CHARACTERS = 2_000;

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
