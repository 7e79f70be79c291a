import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { NewAuditEntry } from '../../port.js';

/**
 * Writes audit entries in the transaction of the change, so that both are committed or neither.
 * Operations report their changes; the actor is set before an operation runs.
 */
export class AuditTrail {
  /** The actor of the operation that runs now. */
  actor = SYSTEM;
  readonly #write: (row: object) => void;

  constructor(database: Database) {
    const insert = database.prepare<object>(
      `insert into audit_log
         (id, at, actor, action, subject_kind, subject_id, subject_name, before, after)
       values (@id, @at, @actor, @action, @kind, @subjectId, @name, @before, @after)`,
    );
    this.#write = (row) => void insert.run(row);
  }

  record({ action, subject, before, after }: NewAuditEntry): void {
    const at = Date.now();
    const { kind, id: subjectId, name } = subject;
    const change = { before: toJson(before), after: toJson(after) };
    this.#write({ id: ulid(at), at, actor: this.actor, action, kind, subjectId, name, ...change });
  }

  /** Keeps the fields that differ between both sides; writes no entry if none does. */
  recordChange({ action, subject, before, after }: FullChange): void {
    const differing = Object.keys(after).filter((field) => before[field] !== after[field]);
    if (differing.length === 0) return;
    const only = (side: Side): Side =>
      Object.fromEntries(differing.map((field) => [field, side[field]]));
    this.record({ action, subject, before: only(before), after: only(after) });
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

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
