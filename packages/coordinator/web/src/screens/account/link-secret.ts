/**
 * The secret of a link that is good once. It stands behind the `#`, which no server is told, and
 * leaves the address bar at once: nobody reads it there over a shoulder, or in the history.
 */
import { useState } from 'preact/hooks';

/** Empty where the address has none. */
export function useLinkSecret(): string {
  const [secret] = useState(takeSecret);
  return secret;
}

function takeSecret(): string {
  const secret = location.hash.slice(1);
  if (secret !== '') history.replaceState(history.state, '', location.pathname);
  return secret;
}
