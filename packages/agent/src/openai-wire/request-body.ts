/** What the local server is sent: the caller's body, less what must not reach it. */
import { findForeignUrl } from '@inference-gateway/shared/openai/media-urls';
import { estimatePromptTokens } from '@inference-gateway/shared/openai/token-estimate';
import type { DocumentAnswer, LocalCall } from '../backends/backend.js';
import { withoutFields } from './without-fields.js';
import { foreignUrl } from './error-document.js';
import { asObject } from './json.js';
import type { JsonObject } from './json.js';
import { withCleanHistory } from './tool-calls.js';
import type { Wish } from './wish.js';

export type ShapedRequest =
  | { readonly kind: 'send'; readonly body: string; readonly wish: Wish }
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer };

/** How a local server wants its requests; absent, as they are. */
export interface RequestWays {
  /** False: it refuses to stream, so its whole answer is told as a stream. */
  readonly streams?: false;
  /**
   * Whether a plain call is asked for as a stream, whose chunks are folded: its server notices at
   * the next token of a stream that the caller has left, and of a plain call later, or never.
   */
  folds?(fields: Readonly<Record<string, unknown>>): boolean;
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
  const kept = withoutFields(call.body, dropFields);
  const { stream_options: given, stream: asked, ...body } = kept;
  const stream = asked === true;
  const options = asObject(given);
  const wish: Wish = {
    kind: call.endpoint === 'chat' ? 'chat' : 'completion',
    model: call.model.id,
    stream,
    usage: stream && options?.['include_usage'] === true,
    promptTokens: () => estimatePromptTokens(call.body),
    ...(call.reasoningField !== undefined && { reasoning: call.reasoningField }),
  };
  const fields = { ...withCleanHistory(withoutTemplate(body)), model: call.model.served_name };
  const asStream = stream || ways.folds?.(fields) === true;
  const sent = {
    ...(ways.shape?.(fields, call) ?? fields),
    ...(ways.streams !== false && streaming(asStream || asked, options)),
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

/** vLLM refuses the options on a request that does not stream. */
function streaming(stream: unknown, options: JsonObject | null): object {
  if (stream !== true) return stream === undefined ? {} : { stream };
  return { stream, stream_options: { ...options, include_usage: true } };
}
