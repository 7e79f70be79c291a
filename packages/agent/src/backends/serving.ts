/** Of a local server that serves some endpoints, and no more. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { notServed } from '../openai-wire/error-document.js';
import type { LocalAnswer, LocalCall } from './backend.js';

type Served = Readonly<Partial<Record<EndpointKey, (call: LocalCall) => Promise<LocalAnswer>>>>;

/** Runs what serves the call's endpoint; a call of any other is refused. */
export async function serveOnly(served: Served, call: LocalCall): Promise<LocalAnswer> {
  return served[call.endpoint]?.(call) ?? notServed(call);
}
