/** Small questions and orders to ComfyUI. No header names an origin: it answers 403 to others'. */
import { asObject } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import { probe } from '../probe.js';

export interface ComfyServer {
  /** With or without `/api`, which it has too. */
  readonly root: string;
  /** Of what stands in front of it: it knows no keys itself. */
  readonly apiKey: string | null;
}

/** A card at work can hold up its server's answers for seconds. */
const ASK_TIMEOUT_MS = 10_000;

/** Throws a `LocalFailure` where there is no JSON object, or what the signal was aborted with. */
export async function askComfy(
  { root, apiKey }: ComfyServer,
  path: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]);
  const { status, json } = await probe(root + path, { apiKey, signal: limited });
  const object = status === 200 ? asObject(json) : null;
  if (object !== null) return object;
  throw new LocalFailure('LOCAL_ERROR', `ComfyUI answered ${status} to ${path.split('/')[1]}.`);
}

/** Whatever becomes of it: who orders looks afterwards, or does not mind. */
export async function orderComfy(
  { root, apiKey }: ComfyServer,
  path: string,
  body: JsonObject,
): Promise<void> {
  const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
  await probe(root + path, { apiKey, signal, body }).catch(() => undefined);
}
