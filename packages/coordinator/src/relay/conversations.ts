/**
 * Which provider served a conversation last: it still has the prompt in its cache and answers the
 * next turn sooner. Only a hint, kept in memory: a forgotten one costs one more prompt evaluation.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { prefixDigests } from '../core/routing/affinity.js';
import type { RunningDigest } from '../core/routing/affinity.js';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { Call } from '../run/work.js';

/** Beyond this number, the least recently used conversations are forgotten. */
const MAX_ENTRIES = 10_000;
/** Hashing a longer body takes too long for a hint. */
const MAX_CONVERSATION_BYTES = 1024 * 1024;
/** Characters of a digest: enough that ten thousand digests never collide. */
const DIGEST_LENGTH = 22;

export class Conversations {
  /** By digest; the most recently used is last. */
  readonly #providers = new Map<string, string>();
  /** Digests of running calls: a call may be placed many times before it gets a slot. */
  readonly #digests = new WeakMap<Call, Digests>();

  /** The provider that has served the longest known part of the conversation; null if none has. */
  preferred(work: Call): string | null {
    const known = this.#digests.get(work) ?? digestsOf(work);
    this.#digests.set(work, known);
    // A prefix is in the cache for certain; of a session, something is.
    for (const digest of [...known.prefixes, ...known.session]) {
      const provider = this.#providers.get(digest);
      if (provider === undefined) continue;
      this.#note(digest, provider);
      return provider;
    }
    return null;
  }

  /**
   * Notes the provider that now has the whole conversation. A call without an earlier `preferred`
   * had no choice of providers and is not worth a digest.
   */
  served(work: Call, providerId: string): void {
    const { prefixes = [], session = [] } = this.#digests.get(work) ?? {};
    for (const digest of [...prefixes.slice(0, 1), ...session]) this.#note(digest, providerId);
  }

  #note(digest: string, providerId: string): void {
    this.#providers.delete(digest);
    this.#providers.set(digest, providerId);
    for (const oldest of this.#providers.keys()) {
      if (this.#providers.size <= MAX_ENTRIES) return;
      this.#providers.delete(oldest);
    }
  }
}

interface Digests {
  /** The longest, which is the whole conversation, first. */
  readonly prefixes: readonly string[];
  /** At most one. */
  readonly session: readonly string[];
}

function digestsOf(call: Call): Digests {
  return { prefixes: prefixesOf(call), session: sessionDigests(call) };
}

function prefixesOf({ endpoint, caller, model, body, prefixes }: Call): readonly string[] {
  if (prefixes !== undefined) return prefixes;
  if (!isConversation(endpoint, body)) return [];
  return digestsOfMessages(caller.memberId, model, readSparse(body)['messages']);
}

/** A name is its member's own: nobody moves the calls of others. */
function sessionDigests({ endpoint, caller, model, session }: Call): readonly string[] {
  if (session === undefined || kindOf(endpoint).text?.isConversation !== true) return [];
  const digest = new Sha256();
  digest.update(JSON.stringify(['session', caller.memberId, model, session]));
  return [digest.read()];
}

/** Characters of a session's name that count. */
const MAX_SESSION_CHARACTERS = 512;

/**
 * The name of the session in the body of a chat, in the field of OpenAI or Anthropic. Null if it
 * has none.
 */
export function sessionIn(body: Readonly<Record<string, unknown>>): string | null {
  const { prompt_cache_key: key, metadata } = body;
  const isObject = typeof metadata === 'object' && metadata !== null;
  const user = isObject && 'user_id' in metadata ? metadata.user_id : null;
  for (const name of [key, user]) {
    if (typeof name === 'string' && name !== '') return name.slice(0, MAX_SESSION_CHARACTERS);
  }
  return null;
}

/** Whether the call belongs to a conversation that is worth a digest. */
export function isConversation(endpoint: EndpointKey, { length }: Uint8Array): boolean {
  const isKnown = kindOf(endpoint).text?.isConversation === true;
  return isKnown && length <= MAX_CONVERSATION_BYTES;
}

export function digestsOfMessages(
  memberId: string,
  model: string,
  messages: unknown,
): readonly string[] {
  const listed = Array.isArray(messages) ? messages : [];
  return prefixDigests({ memberId, model, messages: listed }, new Sha256());
}

class Sha256 implements RunningDigest {
  readonly #hash: Hash = createHash('sha256');

  update(text: string): void {
    this.#hash.update(text);
  }

  read(): string {
    return this.#hash.copy().digest('base64url').slice(0, DIGEST_LENGTH);
  }
}
