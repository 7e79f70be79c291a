/** What a local server is sent: the caller's checked body, less what must not reach it. */
import { estimatePromptTokens } from '@inference-gateway/shared/openai/tokens';
import { writeSparse } from '@inference-gateway/shared/json/sparse';
import type { LocalCall } from '../backends/backend.js';
import { withoutFields } from './without-fields.js';
import { asObject } from './json.js';
import type { JsonObject } from './json.js';
import type { Wish } from './wish.js';

export interface ShapedRequest {
  readonly body: Buffer;
  readonly wish: Wish;
}

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
  const kept = withoutFields(call.body, dropFields);
  const { stream_options: given, stream: asked, ...body } = kept;
  const stream = asked === true;
  const options = asObject(given);
  const wish: Wish = {
    kind: call.endpoint === 'chat' ? 'chat' : 'completion',
    model: call.model.id,
    stream,
    usage: stream && options?.['include_usage'] === true,
    promptTokens: () => call.promptTokens?.[0] ?? estimatePromptTokens(call.body),
    ...(call.reasoningField !== undefined && { reasoning: call.reasoningField }),
  };
  const fields = { ...body, model: call.model.served_name };
  const asStream = stream || ways.folds?.(fields) === true;
  const sent = {
    ...(ways.shape?.(fields, call) ?? fields),
    ...(ways.streams !== false && streaming(asStream || asked, options)),
  };
  return { body: writeSparse(sent), wish };
}

/** vLLM refuses the options on a request that does not stream. */
function streaming(stream: unknown, options: JsonObject | null): object {
  if (stream !== true) return stream === undefined ? {} : { stream };
  return { stream, stream_options: { ...options, include_usage: true } };
}
