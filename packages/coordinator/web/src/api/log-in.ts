/** The log-in request, separate from the frame, which does not need it. */
import { jsonInit, send } from './request.js';
import { readFault } from './fault.js';
import { SESSION, loadSession, tellTabs } from './session.js';

/** Throws a `Fault`: `wrong_password`, or 429 after too many wrong passwords. */
export async function logIn(email: string, password: string): Promise<void> {
  const response = await send(SESSION, jsonInit({ email, password }));
  if (!response.ok) throw await readFault(response);
  tellTabs();
  await loadSession();
}
