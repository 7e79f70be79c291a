/** What the local server is sent: the caller's body, less what must not reach it. */
import { findForeignUrl } from '@inference-gateway/shared/openai/media-urls';
import type { DocumentAnswer, LocalCall } from '../backends/backend.js';
import { foreignUrl } from './error-document.js';
import { asObject } from './json.js';
import type { Wish } from './wish.js';

export type ShapedRequest =
  | { readonly kind: 'send'; readonly body: string; readonly wish: Wish }
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer };

/** `dropFields` are the fields of the body that neither the backend nor the owner lets through. */
export function shapeRequest(call: LocalCall, dropFields: ReadonlySet<string>): ShapedRequest {
  const param = findForeignUrl(call.body);
  if (param !== null) return { kind: 'refused', answer: foreignUrl(param) };
  const kept = Object.entries(call.body).filter(([field]) => !dropFields.has(field));
  const { stream_options: given, ...body } = Object.fromEntries(kept);
  const stream = body['stream'] === true;
  const options = asObject(given);
  const wish: Wish = {
    kind: call.endpoint === 'chat' ? 'chat' : 'completion',
    model: call.model.id,
    stream,
    usage: stream && options?.['include_usage'] === true,
  };
  const sent = {
    ...body,
    model: call.model.served_name,
    // vLLM refuses the options on a request that does not stream, which a job never does.
    ...(stream && { stream_options: { ...options, include_usage: true } }),
  };
  return { kind: 'send', body: JSON.stringify(sent), wish };
}
