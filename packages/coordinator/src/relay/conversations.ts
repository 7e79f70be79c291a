/**
 * Which provider served a conversation last: it still has the prompt in its cache, and answers the
 * next turn sooner. A hint, kept in memory: forgetting one costs a prompt read anew.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { prefixDigests } from '../core/routing/affinity.js';
import type { RunningDigest } from '../core/routing/affinity.js';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { Call } from '../run/work.js';

/** The conversations that have been quiet for longest are forgotten first. */
const MAX_ENTRIES = 10_000;
/** Reading a longer body takes too long for a hint. */
const MAX_CONVERSATION_BYTES = 1024 * 1024;
/** Of a digest: enough that no two of ten thousand are ever the same. */
const DIGEST_LENGTH = 22;

export class Conversations {
  /** By digest; who was asked for or noted last is at the end. */
  readonly #providers = new Map<string, string>();
  /** Of calls under way: one may be placed many times before it has a slot. */
  readonly #digests = new WeakMap<Call, readonly string[]>();

  /** The provider that has served the longest known part of it; null if there is none. */
  preferred(work: Call): string | null {
    const digests = this.#digests.get(work) ?? digestsOf(work);
    this.#digests.set(work, digests);
    for (const digest of digests) {
      const provider = this.#providers.get(digest);
      if (provider === undefined) continue;
      this.#note(digest, provider);
      return provider;
    }
    return null;
  }

  /**
   * Notes who has the whole of it now. A call for which nobody asked whom to prefer had no choice,
   * and is not worth its digest.
   */
  served(work: Call, providerId: string): void {
    const whole = this.#digests.get(work)?.[0];
    if (whole !== undefined) this.#note(whole, providerId);
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

function digestsOf({ endpoint, caller, model, body, prefixes }: Call): readonly string[] {
  if (prefixes !== undefined) return prefixes;
  if (!isConversation(endpoint, body)) return [];
  return digestsOfMessages(caller.memberId, model, readSparse(body)['messages']);
}

/** One whose beginning is worth its digest. */
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
