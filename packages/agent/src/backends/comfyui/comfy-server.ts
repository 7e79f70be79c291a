/**
 * Small queries and commands to ComfyUI. No Origin header is sent: it answers 403 to foreign
 * origins.
 */
import { asObject } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import { probe } from '../probe.js';

export interface ComfyServer {
  /** With or without `/api`; ComfyUI accepts both. */
  readonly root: string;
  /** For a proxy in front of ComfyUI, which has no keys itself. */
  readonly apiKey: string | null;
}

/** A busy card can delay its server's answers for seconds. */
const ASK_TIMEOUT_MS = 10_000;

/** Throws a `LocalFailure` if the answer is not a JSON object, or the signal's abort reason. */
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

/** Ignores the result: the caller checks the effect afterwards, or does not need it. */
export async function orderComfy(
  { root, apiKey }: ComfyServer,
  path: string,
  body: JsonObject,
): Promise<void> {
  const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
  await probe(root + path, { apiKey, signal, body }).catch(() => undefined);
}
