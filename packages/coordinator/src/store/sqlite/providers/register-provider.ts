import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { Provider } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { freeName } from './free-name.js';
import { providerFinder, providerSubject } from './providers.js';

interface Newcomer {
  readonly ownerId: string;
  readonly ownerName: string;
  /** Null: a name made from the owner's. */
  readonly name: string | null;
  readonly tokenHash: string;
  readonly approved: boolean;
}

/** Writes a new provider and returns its id; null where the owner has given its name already. */
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

/** Reads the provider that has just enrolled, and writes down that it has. */
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
