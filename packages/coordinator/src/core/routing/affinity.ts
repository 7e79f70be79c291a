/**
 * What makes two chat calls one conversation: the one begins with all the messages of the other,
 * of the same caller and model. The provider that has read them keeps them in its prompt cache.
 */

/** Calls to tools add several messages between two turns of a caller; nobody adds this many. */
export const MAX_PREFIXES = 32;

/** A hash that goes on after it was read. */
export interface RunningDigest {
  update(text: string): void;
  /** Of all that was given to it so far. */
  read(): string;
}

export interface Conversation {
  readonly memberId: string;
  readonly model: string;
  readonly messages: readonly unknown[];
}

/**
 * The digests of its longest prefixes, the longest, which is the whole, first; in one pass over the
 * messages.
 */
export function prefixDigests(
  { memberId, model, messages }: Conversation,
  digest: RunningDigest,
): readonly string[] {
  const digests: string[] = [];
  const firstNamed = messages.length - MAX_PREFIXES;
  digest.update(JSON.stringify([memberId, model]));
  for (const [i, message] of messages.entries()) {
    // Each is a whole JSON value: no other messages make the same text.
    digest.update(JSON.stringify(message));
    if (i >= firstNamed) digests.push(digest.read());
  }
  return digests.toReversed();
}
