/** What a member's programs ask the gateway: over HTTP and with their key, as any caller does. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { SceneMember } from '../scene.js';
import type { Wish } from '../requests.js';

const BASE = '/v1';

export interface Caller {
  /** The coordinator's. */
  readonly origin: string;
  /** Ends every call. */
  readonly signal: AbortSignal;
}

export async function submitJob(caller: Caller, by: SceneMember, wish: Wish): Promise<void> {
  const body = { model: wish.model, ...wish.body, async: true };
  await post(caller, by, { path: pathOf(wish), body });
}

export async function submitBatch(
  caller: Caller,
  by: SceneMember,
  batch: { readonly label: string; readonly wishes: readonly Wish[] },
): Promise<void> {
  const requests = batch.wishes.map((wish) => ({
    endpoint: pathOf(wish),
    body: { model: wish.model, ...wish.body },
  }));
  await post(caller, by, { path: `${BASE}/batches`, body: { label: batch.label, requests } });
}

/** Reads the stream to its end, and keeps nothing. */
export async function streamChat(caller: Caller, by: SceneMember, wish: Wish): Promise<void> {
  const body = { model: wish.model, ...wish.body, stream: true };
  await post(caller, by, { path: pathOf(wish), body });
}

interface Post {
  readonly path: string;
  readonly body: object;
}

/** A refusal is part of the demo: a rate limit, or a queue that is not enabled. */
async function post({ origin, signal }: Caller, by: SceneMember, what: Post): Promise<void> {
  const response = await fetch(`${origin}${what.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(what.body),
    signal,
  });
  await response.arrayBuffer();
}

function pathOf({ endpoint }: Wish): string {
  return `${BASE}${ENDPOINTS[endpoint].path}`;
}
