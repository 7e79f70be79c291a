/**
 * Two chat calls belong to one conversation if one begins with all messages of the other and caller
 * and model are the same. The provider that has read these messages has them in its prompt cache.
 */

/** Tool calls add several messages between two turns of a caller, but never this many. */
export const MAX_PREFIXES = 32;

/** A hash that can be read and then continued. */
export interface RunningDigest {
  update(text: string): void;
  /** The digest of everything added so far. */
  read(): string;
}

export interface Conversation {
  readonly memberId: string;
  readonly model: string;
  readonly messages: readonly unknown[];
}

/**
 * The digests of the longest prefixes, longest (the whole list) first, computed in one pass over
 * the messages.
 */
export function prefixDigests(
  { memberId, model, messages }: Conversation,
  digest: RunningDigest,
): readonly string[] {
  const digests: string[] = [];
  const firstNamed = messages.length - MAX_PREFIXES;
  digest.update(JSON.stringify([memberId, model]));
  for (const [i, message] of messages.entries()) {
    // Each is a complete JSON value, so no other messages produce the same text.
    digest.update(JSON.stringify(message));
    if (i >= firstNamed) digests.push(digest.read());
  }
  return digests.toReversed();
}
