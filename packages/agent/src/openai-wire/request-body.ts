/** What the local server is sent: the caller's body, less what must not reach it. */
import { findForeignUrl } from '@inference-gateway/shared/openai/media-urls';
import type { DocumentAnswer, LocalCall } from '../backends/backend.js';
import { foreignUrl } from './error-document.js';
import { asObject } from './json.js';
import type { JsonObject } from './json.js';
import type { Wish } from './wish.js';

export type ShapedRequest =
  | { readonly kind: 'send'; readonly body: string; readonly wish: Wish }
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer };

/** How a local server wants its requests; absent, as they are. */
export interface RequestWays {
  /** False: it refuses to stream, so its whole answer is told as a stream. */
  readonly streams?: false;
  shape?(fields: Readonly<Record<string, unknown>>, call: LocalCall): object;
}

/** `dropFields` are the fields of the body that neither the backend nor the owner lets through. */
export function shapeRequest(
  call: LocalCall,
  dropFields: ReadonlySet<string>,
  ways: RequestWays = {},
): ShapedRequest {
  const param = findForeignUrl(call.body);
  if (param !== null) return { kind: 'refused', answer: foreignUrl(param) };
  const kept = Object.entries(call.body).filter(([field]) => !dropFields.has(field));
  const { stream_options: given, stream: asked, ...body } = Object.fromEntries(kept);
  const stream = asked === true;
  const options = asObject(given);
  const wish: Wish = {
    kind: call.endpoint === 'chat' ? 'chat' : 'completion',
    model: call.model.id,
    stream,
    usage: stream && options?.['include_usage'] === true,
  };
  const fields = { ...withoutTemplate(body), model: call.model.served_name };
  const sent = {
    ...(ways.shape?.(fields, call) ?? fields),
    ...(ways.streams !== false &&
      asked !== undefined && { stream: asked, ...usageOf(wish, options) }),
  };
  return { kind: 'send', body: JSON.stringify(sent), wish };
}

/**
 * vLLM and SGLang let these words go before their own settings, so that a template of the caller's
 * would run on the owner's machine (CVE-2025-61620).
 */
const TEMPLATE_WORDS: ReadonlySet<string> = new Set(['chat_template', 'tokenize']);

function withoutTemplate(body: JsonObject): JsonObject {
  const given = asObject(body['chat_template_kwargs']);
  if (given === null) return body;
  const kept = Object.entries(given).filter(([word]) => !TEMPLATE_WORDS.has(word));
  return { ...body, chat_template_kwargs: Object.fromEntries(kept) };
}

/** vLLM refuses the options on a request that does not stream, which a job never does. */
function usageOf({ stream }: Wish, options: JsonObject | null): object {
  return stream ? { stream_options: { ...options, include_usage: true } } : {};
}
