import type { Database } from 'better-sqlite3';
import type { AuditEntry } from '../port.js';
import type { AuditTrail } from './audit-trail.js';
import type { Operations } from './operations.js';

type AuditOperations = Pick<Operations, 'recordAudit' | 'listAudit'>;

interface Row {
  id: string;
  at: number;
  actor: string;
  action: string;
  subject_kind: string;
  subject_id: string;
  subject_name: string;
  before: string | null;
  after: string | null;
}

/**
 * In the order in which entries were written: the clock may have gone back, and several share a
 * millisecond. A noun is compared as it stands, where LIKE would take its signs for a pattern.
 */
const FILTERS = `(@since is null or at >= @since)
  and (@action is null or action = @action
    or substr(action, 1, length(@action) + 1) = @action || '.')
  and (@actor is null or actor = @actor)
  and (@after is null or rowid < (select rowid from audit_log where id = @after))
  order by rowid desc limit @limit`;

export function auditOperations(database: Database, trail: AuditTrail): AuditOperations {
  const list = database.prepare<object, Row>(`select * from audit_log where ${FILTERS}`);
  // By its index: a look at one subject does not read the whole log.
  const listOf = database.prepare<object, Row>(
    `select * from audit_log where subject_id = @subjectId and ${FILTERS}`,
  );
  return {
    recordAudit: (entry) => trail.record(entry),
    listAudit: (query) =>
      (query.subjectId === null ? list : listOf).all({ after: null, ...query }).map(decode),
  };
}

function decode(row: Row): AuditEntry {
  return {
    id: row.id,
    at: row.at,
    actor: row.actor,
    action: row.action,
    subject: { kind: row.subject_kind, id: row.subject_id, name: row.subject_name },
    before: parse(row.before),
    after: parse(row.after),
  };
}

function parse(json: string | null): AuditEntry['before'] {
  return json === null ? null : (JSON.parse(json) as AuditEntry['before']);
}
