/**
 * The secret of a single-use link. It is in the URL's fragment, which browsers do not send to
 * servers, and is removed from the address bar at once, so that it is neither visible there nor
 * kept in the history.
 */
import { useState } from 'preact/hooks';

/**
 * Kept for members who log out first: they return to the same page, whose address no longer has it.
 */
let taken = { path: '', secret: '' };

/** Empty if the URL has none. */
export function useLinkSecret(): string {
  const [secret] = useState(takeSecret);
  return secret;
}

/** Forgets the secret after its use. */
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
