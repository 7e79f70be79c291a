/**
 * Embeddings and reranking: a list of inputs is one call for its caller, and here as many requests
 * as the server needs. Vectors stay the bytes that the server wrote, unless they have to change
 * their form: parsing a million numbers would block every stream.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKind } from '@inference-gateway/shared/endpoints';
import { estimatePromptTokens } from '@inference-gateway/shared/openai/tokens';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { refusal } from '../../openai-wire/error-document.js';
import { asObject, asObjects } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { readUsage } from '../../openai-wire/usage.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer, LocalAnswer, LocalCall } from '../backend.js';
import { readWhole } from '../bytes.js';
import { runCall } from '../run-call.js';
import type { CallTarget } from '../run-call.js';
import { countTokens } from './counting.js';
import { fieldsOf, readError, sendJson } from './send.js';

type Serve = (target: CallTarget, call: LocalCall) => Promise<LocalAnswer>;

const NOT_TEXT: Readonly<Partial<Record<EndpointKind, Serve>>> = {
  embeddings: embed,
  rerank,
  count: countTokens,
};

/** Text and vectors: what servers have that run no other models. */
export function serveModel(target: CallTarget, call: LocalCall): Promise<LocalAnswer> {
  return (NOT_TEXT[ENDPOINTS[call.endpoint].kind] ?? runCall)(target, call);
}

/** Inputs of one request to a server that does not say how many it takes. */
const MOST_INPUTS = 2_048;
/** Of one answer of the server: 2,048 vectors of 1,024 numbers have 45 MB. */
const MAX_DOCUMENT_BYTES = 96 * 1024 * 1024;
/** Of the whole answer: the coordinator holds no longer one. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Throws a `LocalFailure`, or the signal's abort reason. */
export async function embed(target: CallTarget, call: LocalCall): Promise<LocalAnswer> {
  const fields = fieldsOf(call);
  const inputs = inputsOf(fields['input']);
  const form = fields['encoding_format'] === 'base64' ? 'base64' : 'float';
  const dimensions = typeof fields['dimensions'] === 'number' ? fields['dimensions'] : null;
  const items = new VectorList();
  const used = new CountedInputs();
  for (const portion of portionsOf(inputs, target)) {
    const asked = { ...fields, input: portion };
    let answer = await sendJson(target, call, { ...asked, encoding_format: form });
    if (answer.status >= 400 && answer.status < 500 && form === 'base64') {
      // Perhaps it has only the other form.
      answer.body.abandon();
      answer = await sendJson(target, call, { ...asked, encoding_format: 'float' });
    }
    if (answer.status >= 400) return readError(call, answer);
    const { vectors, usage } = readVectors(await readWhole(answer.body, MAX_DOCUMENT_BYTES));
    if (vectors.length !== portion.length) throw wrongCount(vectors.length, portion.length);
    used.add(usage, portion);
    for (const vector of vectors) {
      const written = inForm(vector, form);
      const size = dimensions === null ? null : sizeOf(written);
      if (size !== dimensions) return otherDimensions(call, size);
      items.add(written);
      if (items.bytes > MAX_ANSWER_BYTES) return tooLong();
    }
  }
  const usage = used.total;
  const json = items.document({ model: call.model.id, usage: shownUsage(usage) });
  return { kind: 'vectors', status: 200, json, usage };
}

/** Throws a `LocalFailure`, or the signal's abort reason. */
export async function rerank(target: CallTarget, call: LocalCall): Promise<LocalAnswer> {
  const { documents, top_n: top, return_documents: returned, ...fields } = fieldsOf(call);
  const texts = (Array.isArray(documents) ? documents : []).map(textOf);
  const results: Ranked[] = [];
  const used = new CountedInputs();
  for (const portion of portionsOf(texts, target)) {
    const from = results.length;
    const asked = { ...fields, documents: portion };
    const answer = await sendJson(target, call, asked);
    if (answer.status >= 400) return readError(call, answer);
    const document = parsed(await readWhole(answer.body, MAX_DOCUMENT_BYTES));
    const ranked = readRanked(document, portion.length);
    for (const { index, score } of ranked) results.push({ index: from + index, score });
    const query = String(fields['query']);
    used.add(readUsage(asObject(document)?.['usage']), [...portion, query]);
  }
  const best = results.toSorted((a, b) => b.score - a.score || a.index - b.index);
  const shown = typeof top === 'number' ? best.slice(0, top) : best;
  const usage = used.total;
  const json = JSON.stringify({
    object: 'list',
    model: call.model.id,
    results: shown.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returned === true && { document: { text: texts[index] } }),
    })),
    usage: shownUsage(usage),
  });
  return { kind: 'document', status: 200, json, usage };
}

/** The values of `input`: texts, or lists of token ids. */
function inputsOf(input: unknown): readonly unknown[] {
  if (!Array.isArray(input)) return [input];
  return typeof input[0] === 'number' ? [input] : (input as unknown[]);
}

function textOf(document: unknown): string {
  const text = asObject(document)?.['text'] ?? document;
  return typeof text === 'string' ? text : '';
}

function* portionsOf<T>(inputs: readonly T[], { mostInputs }: CallTarget): Generator<readonly T[]> {
  const most = mostInputs ?? MOST_INPUTS;
  for (let at = 0; at < inputs.length; at += most) yield inputs.slice(at, at + most);
}

/** The tokens of all portions; estimated where the server does not count. */
class CountedInputs {
  #tokens = 0;
  #isEstimated = false;

  add(told: TokenUsage | null, inputs: readonly unknown[]): void {
    const counted = told === null ? 0 : told.prompt_tokens || told.total_tokens;
    if (counted === 0) this.#isEstimated = true;
    this.#tokens += counted === 0 ? estimatePromptTokens({ prompt: inputs }) : counted;
  }

  get total(): TokenUsage {
    const counts = {
      prompt_tokens: this.#tokens,
      completion_tokens: 0,
      total_tokens: this.#tokens,
    };
    return this.#isEstimated ? { ...counts, estimated: true } : counts;
  }
}

function shownUsage({ completion_tokens: _none, ...usage }: TokenUsage): object {
  return usage;
}

/** Many frames of the link: one for each vector would be too small. */
const BLOCK_BYTES = 512 * 1024;

/** The answer of `/embeddings`, written around the bytes of its vectors. */
class VectorList {
  bytes = 0;
  #count = 0;
  #blockBytes = 0;
  #block: Uint8Array[] = [];
  readonly #blocks: Uint8Array[] = [];

  /** JSON of the next input's vector. */
  add(vector: Uint8Array): void {
    const start = this.#count === 0 ? '{"object":"list","data":[' : '},';
    this.#put(Buffer.from(`${start}{"object":"embedding","index":${this.#count},"embedding":`));
    this.#put(vector);
    this.#count += 1;
  }

  document(rest: object): readonly Uint8Array[] {
    const start = this.#count === 0 ? '{"object":"list","data":[' : '}';
    this.#put(Buffer.from(`${start}],${JSON.stringify(rest).slice(1)}`));
    this.#endBlock();
    return this.#blocks;
  }

  #put(piece: Uint8Array): void {
    this.#block.push(piece);
    this.bytes += piece.length;
    this.#blockBytes += piece.length;
    if (this.#blockBytes >= BLOCK_BYTES) this.#endBlock();
  }

  #endBlock(): void {
    this.#blocks.push(Buffer.concat(this.#block, this.#blockBytes));
    this.#block = [];
    this.#blockBytes = 0;
  }
}

interface Ranked {
  readonly index: number;
  readonly score: number;
}

/** By the names of Jina and Cohere, and of text-embeddings-inference. */
function readRanked(document: unknown, count: number): readonly Ranked[] {
  const object = asObject(document);
  const listed = asObjects(object?.['results'] ?? object?.['data'] ?? document);
  const ranked = listed.flatMap((one): Ranked[] => {
    const { index, relevance_score: relevance, score } = one;
    const told = relevance ?? score;
    const isPlace = Number.isInteger(index) && Number(index) >= 0 && Number(index) < count;
    return isPlace && typeof told === 'number' ? [{ index: Number(index), score: told }] : [];
  });
  const places = new Set(ranked.map(({ index }) => index));
  if (ranked.length === count && places.size === count) return ranked;
  throw wrongCount(places.size, count);
}

interface ReadVectors {
  /** As the server wrote them, a list or base64 in quotes, in the order of the inputs. */
  readonly vectors: readonly Buffer[];
  readonly usage: TokenUsage | null;
}

const NAME = Buffer.from('"embedding"');
const [COLON, OPEN, QUOTE, COMMA] = [0x3a, 0x5b, 0x22, 0x2c];

/** Throws a `LocalFailure`. Everything but the vectors is parsed. */
export function readVectors(bytes: Buffer): ReadVectors {
  const vectors: Buffer[] = [];
  const rest: Buffer[] = [];
  let done = 0;
  for (let at = bytes.indexOf(NAME); at !== -1; at = bytes.indexOf(NAME, Math.max(at + 1, done))) {
    const colon = afterBlanks(bytes, at + NAME.length);
    // Also a value: `"object": "embedding"`.
    if (bytes[colon] !== COLON) continue;
    const start = afterBlanks(bytes, colon + 1);
    const end = endOfVector(bytes, start);
    vectors.push(bytes.subarray(start, end));
    rest.push(bytes.subarray(done, start), Buffer.from('null'));
    done = end;
  }
  rest.push(bytes.subarray(done));
  const document = asObject(parsed(Buffer.concat(rest)));
  const rows = asObjects(document?.['data']);
  if (document === null || rows.length !== vectors.length) throw unusable();
  return { vectors: inOrder(rows, vectors), usage: readUsage(document['usage']) };
}

function inOrder(rows: readonly JsonObject[], vectors: readonly Buffer[]): readonly Buffer[] {
  const ordered = new Map<unknown, Buffer>();
  for (const [position, vector] of vectors.entries()) {
    ordered.set(rows[position]?.['index'] ?? position, vector);
  }
  return vectors.map((_, index) => {
    const vector = ordered.get(index);
    if (vector === undefined) throw unusable();
    return vector;
  });
}

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) {
    at += 1;
  }
  return at;
}

/** A list of numbers has no other list in it, and base64 no quote. */
function endOfVector(bytes: Buffer, start: number): number {
  const isList = bytes[start] === OPEN;
  if (!isList && bytes[start] !== QUOTE) throw unusable();
  const end = isList ? bytes.indexOf(']', start) : bytes.indexOf('"', start + 1);
  if (end === -1 || (isList && bytes.subarray(start + 1, end).includes(OPEN))) throw unusable();
  return end + 1;
}

/** JSON of the vector in the caller's form: a list of numbers, or base64 of 32-bit floats. */
function inForm(vector: Buffer, form: 'float' | 'base64'): Buffer {
  const isList = vector[0] === OPEN;
  if (isList === (form === 'float')) return vector;
  if (isList) {
    const numbers = Float32Array.from(numbersIn(vector));
    return Buffer.from(`"${Buffer.from(numbers.buffer).toString('base64')}"`);
  }
  const floats = Buffer.from(vector.toString('latin1', 1, vector.length - 1), 'base64');
  const numbers = Array.from({ length: floats.length >> 2 }, (_, i) => floats.readFloatLE(i * 4));
  return Buffer.from(JSON.stringify(numbers));
}

function numbersIn(vector: Buffer): readonly number[] {
  const numbers = parsed(vector) as readonly unknown[];
  if (numbers.every((one) => typeof one === 'number')) return numbers;
  throw unusable();
}

/** Numbers in the JSON of a vector. */
function sizeOf(vector: Buffer): number {
  if (vector[0] === QUOTE)
    return Buffer.byteLength(vector.toString('latin1', 1, vector.length - 1), 'base64') >> 2;
  let commas = 0;
  for (const byte of vector) if (byte === COMMA) commas += 1;
  return commas + 1;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    throw unusable();
  }
}

function unusable(): LocalFailure {
  return new LocalFailure('LOCAL_ERROR', 'the local server answered something else than vectors.');
}

function wrongCount(came: number, count: number): LocalFailure {
  const message = `the local server answered ${came} results to ${count} inputs.`;
  return new LocalFailure('LOCAL_ERROR', message);
}

function otherDimensions({ model, body }: LocalCall, size: number | null): DocumentAnswer {
  const message =
    `'dimensions' is ${String(body['dimensions'])}, and the model '${model.id}' makes vectors of ` +
    `${size} numbers here. Leave it away.`;
  return refusal(400, message, { code: 'unsupported_value', param: 'dimensions' });
}

function tooLong(): DocumentAnswer {
  const message =
    `The answer has more than ${MAX_ANSWER_BYTES} bytes. Send fewer inputs at once, or ask for ` +
    "'encoding_format': 'base64'.";
  return refusal(400, message, { code: 'invalid_value', param: 'input' });
}
