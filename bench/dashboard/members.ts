/** Members with a key for their programs and a session for their browser. */
import type { Member, Store } from '@inference-gateway/coordinator/store/port';
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';

const DAY_MS = 86_400_000;
const SESSION_COOKIE = 'gateway_session';

export interface BenchMember {
  readonly id: string;
  readonly key: string;
  /** Of a browser that is logged in as them. */
  readonly session: Session;
}

export interface Session {
  readonly name: string;
  readonly value: string;
}

/** The coordinator does not run yet: it has the store of its folder to itself. */
export async function createMember(
  store: Store,
  name: string,
  role: Member['role'] = 'member',
): Promise<BenchMember> {
  const now = Date.now();
  const about = { email: `${name}@example.com`, name, role, passwordHash: null };
  const made = await store.createMember(about, now);
  if (made.kind !== 'created') throw new Error(`the member ${name} is there already`);
  const { id } = made.value;
  const key = newSecret('gwk');
  const rights = { hash: hashSecret(key), scope: 'any', expiresAt: null } as const;
  await store.createKey({ memberId: id, name: 'bench', prefix: key.slice(0, 8), ...rights }, now);
  return { id, key, session: await logIn(store, id) };
}

/** Logs in a member without a password, as the log-in page would. */
export async function logIn(store: Store, memberId: string): Promise<Session> {
  const now = Date.now();
  const value = newSecret('gws');
  const where = { address: '127.0.0.1', userAgent: 'bench', expiresAt: now + DAY_MS };
  const session = { hash: hashSecret(value), memberId, passwordHash: null, ...where };
  const made = await store.createSession(session, now);
  if (made === null) throw new Error(`${memberId} cannot be logged in`);
  return { name: SESSION_COOKIE, value };
}

export function cookieOf({ name, value }: Session): string {
  return `${name}=${value}`;
}
