import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { NewAuditEntry } from '../../port.js';

/**
 * Collects the changes that an operation records. The group commit writes them with the actor of
 * the call, in its savepoint: both are committed or neither.
 */
export class AuditTrail {
  #entries: NewAuditEntry[] = [];

  record(entry: NewAuditEntry): void {
    this.#entries.push(entry);
  }

  /** Keeps the fields that differ between both sides; writes no entry if none does. */
  recordChange({ action, subject, before, after }: FullChange): void {
    const differing = Object.keys(after).filter((field) => before[field] !== after[field]);
    if (differing.length === 0) return;
    const only = (side: Side): Side =>
      Object.fromEntries(differing.map((field) => [field, side[field]]));
    this.record({ action, subject, before: only(before), after: only(after) });
  }

  /** What was recorded since the last call of this. */
  take(): readonly NewAuditEntry[] {
    const taken = this.#entries;
    if (taken.length > 0) this.#entries = [];
    return taken;
  }
}

/** Fields whose values can be compared with `===`. */
type Side = Readonly<Record<string, unknown>>;

interface FullChange extends NewAuditEntry {
  readonly before: Side;
  readonly after: Side;
}

/** The actor of changes by the gateway itself. */
export const SYSTEM = 'system';

/** Who did something, and when. */
export interface Act {
  readonly actor: string;
  /** Unix ms. */
  readonly at: number;
}

export function auditWriter(database: Database): (act: Act, entry: NewAuditEntry) => void {
  const insert = database.prepare<object>(
    `insert into audit_log
       (id, at, actor, action, subject_kind, subject_id, subject_name, before, after)
     values (@id, @at, @actor, @action, @kind, @subjectId, @name, @before, @after)`,
  );
  return ({ actor, at }, { action, subject, before, after }) => {
    const { kind, id: subjectId, name } = subject;
    const change = { before: toJson(before), after: toJson(after) };
    insert.run({ id: ulid(at), at, actor, action, kind, subjectId, name, ...change });
  };
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
