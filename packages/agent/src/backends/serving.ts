/** For a local server that serves only some endpoints. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { notServed } from '../openai-wire/error-document.js';
import type { LocalAnswer, LocalCall } from './backend.js';

type Served = Readonly<Partial<Record<EndpointKey, (call: LocalCall) => Promise<LocalAnswer>>>>;

/** Runs the handler of the call's endpoint; refuses a call of any other. */
export async function serveOnly(served: Served, call: LocalCall): Promise<LocalAnswer> {
  return served[call.endpoint]?.(call) ?? notServed(call);
}
