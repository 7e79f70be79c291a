/** The session of this browser. */
import { Cell } from './cell.js';
import { readFault, unreachable } from './fault.js';

export interface Session {
  readonly member: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly role: 'member' | 'admin';
    /** Whether excerpts of their requests are kept. */
    readonly excerpts: boolean;
  };
  readonly gateway: {
    readonly version: string;
    /** Of the agent that this gateway hands out; null if it hands out none. */
    readonly agent_version: string | null;
    /** The origin that callers and agents use. */
    readonly public_url: string;
    /** With `/v1`. */
    readonly base_url: string;
  };
}

export const SESSION = '/api/console/v1/session';

/** Undefined until it is known; null if nobody is logged in. */
export const session = new Cell<Session | null | undefined>(undefined);

/** Whether the gateway has no members: then nobody can log in. */
export const isUnset = new Cell(false);

/** Asks who is logged in. Throws a `Fault` if nothing answers. */
export async function loadSession(): Promise<void> {
  const response = await fetch(SESSION).catch(() => null);
  if (response === null) throw unreachable();
  if (response.status === 401) {
    isUnset.value = (await readFault(response)).code === 'not_set_up';
    session.value = null;
  } else if (response.ok) follow((await response.json()) as Session);
  else throw await readFault(response);
}

/** If another member has logged in, all data of the former one is dropped, as after a log-out. */
function follow(next: Session): void {
  if (session.value && session.value.member.id !== next.member.id) session.value = null;
  session.value = next;
}

/** The tabs of one browser share its cookie, and tell each other when the session changes. */
let tabs: BroadcastChannel | undefined;

export function followTabs(): void {
  tabs = new BroadcastChannel('session');
  // If there is no answer now, a screen shows the error at its next request.
  tabs.addEventListener('message', () => void loadSession().catch(() => undefined));
}

export function tellTabs(): void {
  // `postMessage` of a BroadcastChannel has no such argument.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  tabs?.postMessage(null);
}

/** Throws a `Fault` if the session could not be ended. */
export async function logOut(): Promise<void> {
  const response = await fetch(SESSION, { method: 'DELETE' }).catch(() => null);
  if (response === null) throw unreachable();
  if (!response.ok) throw await readFault(response);
  tellTabs();
  sessionEnded();
}

/** Called when the coordinator answers 401, or after a log-out. */
export function sessionEnded(): void {
  session.value = null;
}

/** For components inside the frame, which is shown only with a session. Throws if there is none. */
export function currentSession(): Session {
  const current = session.value;
  if (current === null || current === undefined) throw new Error('nobody is logged in');
  return current;
}

export function isAdmin(): boolean {
  return session.value?.member.role === 'admin';
}
