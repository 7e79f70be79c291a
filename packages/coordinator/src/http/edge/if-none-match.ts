/**
 * RFC 9110, 13.1.2: whether the reader holds what has this tag. Weak or strong is the same here: a
 * proxy that compresses anew makes the one of the other.
 *
 * Koa's own look heeds a `Cache-Control: no-cache` in the request, which browsers add to whatever
 * names a tag itself: they would never be told that nothing has changed.
 */
export function isHeld(ifNoneMatch: string, etag: string): boolean {
  const held = ifNoneMatch.split(',').map((one) => opaque(one.trim()));
  return held.includes('*') || held.includes(opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
