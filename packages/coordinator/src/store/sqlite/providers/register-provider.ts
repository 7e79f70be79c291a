import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { Provider } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { providerFinder, providerSubject } from './providers.js';

interface Newcomer {
  readonly ownerId: string;
  readonly ownerName: string;
  /** Null: a name derived from the owner's. */
  readonly name: string | null;
  readonly tokenHash: string;
  readonly approved: boolean;
}

/** Creates a provider and returns its id; null if the owner already has a provider of this name. */
export type RegisterProvider = (newcomer: Newcomer, now: number) => string | null;

export function providerRegistrar(database: Database): RegisterProvider {
  const insert = database.prepare<object>(
    `insert into providers (id, owner_id, name, token_hash, created_at, approved_at)
     values (@id, @ownerId, @name, @tokenHash, @now, @approvedAt)
     on conflict (owner_id, name) do nothing`,
  );
  const nameFor = freeName(database);
  return ({ ownerId, ownerName, name, tokenHash, approved }, now) => {
    const row = {
      id: ulid(now),
      ownerId,
      name: name ?? nameFor(ownerId, ownerName),
      tokenHash,
      now,
      approvedAt: approved ? now : null,
    };
    return insert.run(row).changes === 1 ? row.id : null;
  };
}

/** Reads the provider that has just enrolled, and records the enrolment. */
export function enrolmentRecorder(
  database: Database,
  trail: AuditTrail,
): (id: string, replaced: boolean) => Provider {
  const find = providerFinder(database);
  return (id, replaced) => {
    const provider = find(id);
    if (provider === null)
      throw new Error(`the provider ${id} that has just enrolled is not there`);
    const after = { name: provider.name, approved: provider.approvedAt !== null, replaced };
    const subject = providerSubject(provider);
    trail.record({ action: 'provider.enroll', subject, before: null, after });
    return provider;
  };
}

/** `anna-pc`, or the first of `anna-pc-2`, `anna-pc-3`, … that the owner does not use yet. */
function freeName(database: Database): (ownerId: string, ownerName: string) => string {
  const given = database
    .prepare<[string], string>('select lower(name) from providers where owner_id = ?')
    .pluck();
  return (ownerId, ownerName) => {
    const taken = given.all(ownerId);
    const stem = `${ownerName.slice(0, MAX_STEM)}-pc`;
    const names = [stem, ...taken.map((_, i) => `${stem}-${i + 2}`)];
    return names.find((name) => !taken.includes(asciiLower(name))) ?? stem;
  };
}

/** A name has at most 64 characters; `-pc-12345` takes nine of them. */
const MAX_STEM = 55;

/** Folds like SQLite's NOCASE and lower(): only ASCII letters. */
function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
