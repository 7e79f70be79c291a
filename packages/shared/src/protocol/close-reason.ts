/** Why a link is closed, in the words of its close frame. */

/** What a WebSocket close frame has room for; `ws` throws at more. */
const MAX_REASON_BYTES = 123;

/**
 * The reason cut to what fits, in bytes of UTF-8 and between characters: the other end may have
 * chosen part of it.
 */
export function closeReason(reason: string): string {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES));
  return reason.slice(0, read);
}
