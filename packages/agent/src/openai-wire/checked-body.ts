/**
 * Checks a caller's body before its kind of server is known: removes fields that no server may get,
 * without relying on the coordinator's checks, and puts the rest into OpenAI's form.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import {
  findMisspelledField,
  findMisspelledName,
} from '@inference-gateway/shared/openai/field-names';
import { kindOf, sequencesOf } from '@inference-gateway/shared/openai/kinds';
import { MAX_SEQUENCES } from '@inference-gateway/shared/openai/tokens';
import type { DocumentAnswer } from '../backends/backend.js';
import { foreignUrl, misspelledName, refusal } from './error-document.js';
import { asObject, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';
import { withCleanHistory } from './tool-calls.js';

export interface BodyQuestion {
  readonly endpoint: EndpointKey;
  /** `plain`: its server takes only three roles and one text per message. */
  readonly messages?: 'plain' | undefined;
}

export type CheckedBody =
  | { readonly kind: 'checked'; readonly body: JsonObject }
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer };

/** Throws if the JSON is not an object; no coordinator sends this. */
export function checkBody(value: unknown, question: BodyQuestion): CheckedBody {
  const body = asObject(value);
  if (body === null) throw new TypeError('the body is no JSON object');
  const answer = refusalOf(body, question.endpoint);
  if (answer !== null) return { kind: 'refused', answer };
  if (kindOf(question.endpoint).text === null) return { kind: 'checked', body };
  const clean = withCleanHistory(withoutTemplate(body));
  const isPlain = question.messages === 'plain';
  return { kind: 'checked', body: isPlain ? withPlainMessages(clean) : clean };
}

function refusalOf(body: JsonObject, endpoint: EndpointKey): DocumentAnswer | null {
  const isForm = ENDPOINTS[endpoint].body === 'multipart';
  const field = isForm ? findMisspelledField(Object.keys(body)) : null;
  const misspelled = field ?? findMisspelledName(body);
  if (misspelled !== null) return misspelledName(misspelled);
  const foreign = kindOf(endpoint).findForeign(body);
  if (foreign !== null) return foreignUrl(foreign);
  const sequences = sequencesOf(endpoint, body);
  return sequences > MAX_SEQUENCES ? tooMany(sequences) : null;
}

/** A body that was not parsed, because it exceeds a limit (`shared/json/scan.ts`). */
export function tooMuchJson(fault: string): DocumentAnswer {
  const message = `The request body is refused: ${fault}. Send less at once.`;
  return refusal(400, message, { code: 'invalid_json' });
}

function tooMany(sequences: number): DocumentAnswer {
  const message = `${sequences} answers are asked for: one request may have ${MAX_SEQUENCES}.`;
  return refusal(400, message, { code: 'invalid_value', param: 'n' });
}

/**
 * In vLLM and SGLang these keys override their own settings, so a caller's template would run on
 * the owner's machine (CVE-2025-61620).
 */
const TEMPLATE_WORDS: ReadonlySet<string> = new Set(['chat_template', 'tokenize']);

function withoutTemplate(body: JsonObject): JsonObject {
  const given = asObject(body['chat_template_kwargs']);
  if (given === null) return body;
  const kept = Object.entries(given).filter(([word]) => !TEMPLATE_WORDS.has(word));
  return { ...body, chat_template_kwargs: Object.fromEntries(kept) };
}

function withPlainMessages(body: JsonObject): JsonObject {
  const { messages } = body;
  return Array.isArray(messages)
    ? { ...body, messages: asObjects(messages).map(plainMessage) }
    : body;
}

function plainMessage({ role, content }: JsonObject): JsonObject {
  const spoken = role === 'user' || role === 'assistant' ? role : 'system';
  return { role: spoken, content: asText(content) ?? textOf(content) };
}

function textOf(parts: unknown): string {
  return asObjects(parts)
    .flatMap(({ text }) => asText(text) ?? [])
    .join('\n');
}
