import { ulid } from '@inference-gateway/shared/ids';
import type { Provider } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { findProviderById, providerSubject } from './providers.js';

interface Newcomer {
  readonly ownerId: string;
  readonly ownerName: string;
  /** Null: a name derived from the owner's. */
  readonly name: string | null;
  readonly tokenHash: string;
  readonly approved: boolean;
}

const insert = statement(
  `insert into providers (id, owner_id, name, token_hash, created_at, approved_at)
   values (@id, @ownerId, @name, @tokenHash, @now, @approvedAt)
   on conflict (owner_id, name) do nothing`,
);

/** Creates a provider and returns its id; null if the owner already has a provider of this name. */
export function* registerProvider(newcomer: Newcomer, now: number): Operation<string | null> {
  const { ownerId, ownerName, name, tokenHash, approved } = newcomer;
  const row = {
    id: ulid(now),
    ownerId,
    name: name ?? (yield* freeName(ownerId, ownerName)),
    tokenHash,
    now,
    approvedAt: approved ? now : null,
  };
  return (yield* insert.run(row)) === 1 ? row.id : null;
}

/** Reads the provider that has just enrolled, and records the enrolment. */
export function* recordEnrolment(id: string, replaced: boolean): Operation<Provider> {
  const provider = yield* findProviderById(id);
  if (provider === null) throw new Error(`the provider ${id} that has just enrolled is not there`);
  const after = { name: provider.name, approved: provider.approvedAt !== null, replaced };
  const subject = providerSubject(provider);
  yield* record({ action: 'provider.enroll', subject, before: null, after });
  return provider;
}

const given = valueOf<{ ownerId: string }, string>(
  'select name from providers where owner_id = @ownerId',
);

/** `anna-pc`, or the first of `anna-pc-2`, `anna-pc-3`, … that the owner does not use yet. */
function* freeName(ownerId: string, ownerName: string): Operation<string> {
  const taken = (yield* given.all({ ownerId })).map(folded);
  const stem = `${ownerName.slice(0, MAX_STEM)}-pc`;
  const names = [stem, ...taken.map((_, i) => `${stem}-${i + 2}`)];
  return names.find((name) => !taken.includes(folded(name))) ?? stem;
}

/** A name has at most 64 characters; `-pc-12345` takes nine of them. */
const MAX_STEM = 55;

/** The case of ASCII letters never tells names apart; PostgreSQL may ignore that of others too. */
function folded(name: string): string {
  return name.toLowerCase();
}
