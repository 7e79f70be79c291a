/**
 * The secret of a link that is good once. It stands behind the `#`, which no server is told, and
 * leaves the address bar at once: nobody reads it there over a shoulder, or in the history.
 */
import { useState } from 'preact/hooks';

/** Whoever has to log out first comes back to the same page, and the address has it no more. */
let taken = { path: '', secret: '' };

/** Empty if the URL has none. */
export function useLinkSecret(): string {
  const [secret] = useState(takeSecret);
  return secret;
}

/** It is used up. */
export function dropSecret(): void {
  taken = { path: '', secret: '' };
}

function takeSecret(): string {
  const path = location.pathname;
  const secret = location.hash.slice(1);
  if (secret === '') return taken.path === path ? taken.secret : '';
  history.replaceState(history.state, '', path);
  taken = { path, secret };
  return secret;
}
