import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { NewAuditEntry } from '../../port.js';

/**
 * Writes who changed what, in the transaction of the change: where one is, the other is. Each
 * operation tells it what it has changed; who asked for the operation is told before it runs.
 */
export class AuditTrail {
  /** Whoever has asked for the operation that runs now. */
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

  /** Keeps the fields that differ, of the same on both sides; where none does, no entry. */
  recordChange({ action, subject, before, after }: FullChange): void {
    const differing = Object.keys(after).filter((field) => before[field] !== after[field]);
    if (differing.length === 0) return;
    const only = (side: Side): Side =>
      Object.fromEntries(differing.map((field) => [field, side[field]]));
    this.record({ action, subject, before: only(before), after: only(after) });
  }
}

/** Of values that `===` tells apart. */
type Side = Readonly<Record<string, unknown>>;

interface FullChange extends NewAuditEntry {
  readonly before: Side;
  readonly after: Side;
}

/** What nobody in particular has asked for. */
export const SYSTEM = 'system';

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
