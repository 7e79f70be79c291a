import { ulid } from '@inference-gateway/shared/ids';
import type { NewAuditEntry } from '../../port.js';
import { context, statement } from '../statement.js';
import type { Operation } from '../statement.js';

/** The actor of changes by the gateway itself. */
export const SYSTEM = 'system';

/** Who did something, and when. */
export interface Act {
  readonly actor: string;
  /** Unix ms. */
  readonly at: number;
}

const insert = statement(
  `insert into audit_log
     (id, at, actor, action, subject_kind, subject_id, subject_name, before, after)
   values (@id, @at, @actor, @action, @kind, @subjectId, @name, @before, @after)`,
);

/** Writes an entry with the actor of the call, in its transaction. */
export function* record({ action, subject, before, after }: NewAuditEntry): Operation<void> {
  const { actor, at } = yield* context();
  const { kind, id: subjectId, name } = subject;
  const change = { before: toJson(before), after: toJson(after) };
  yield* insert.run({ id: ulid(at), at, actor, action, kind, subjectId, name, ...change });
}

/** Fields whose values can be compared with `===`. */
type Side = Readonly<Record<string, unknown>>;

interface FullChange extends NewAuditEntry {
  readonly before: Side;
  readonly after: Side;
}

/** Keeps the fields that differ between both sides; writes no entry if none does. */
export function* recordChange({ action, subject, before, after }: FullChange): Operation<void> {
  const differing = Object.keys(after).filter((field) => before[field] !== after[field]);
  if (differing.length === 0) return;
  const only = (side: Side): Side =>
    Object.fromEntries(differing.map((field) => [field, side[field]]));
  yield* record({ action, subject, before: only(before), after: only(after) });
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
