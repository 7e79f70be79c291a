import type { AuditEntry } from '../../port.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';
import { oldRowDeleter } from '../usage/retention.js';
import { record } from './audit-trail.js';

type AuditOperations = Pick<Operations, 'recordAudit' | 'listAudit' | 'deleteOldAudit'>;

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

const COLUMNS = 'id, at, actor, action, subject_kind, subject_id, subject_name, before, after';

/**
 * In order of writing: the clock may have gone back, and several entries may have the same
 * millisecond. A noun is compared literally, because LIKE would treat some characters as patterns.
 */
const FILTERS = `(at >= @since or @since is null)
  and (action = @action or @action is null
    or substr(action, 1, length(@action) + 1) = @action || '.')
  and (actor = @actor or @actor is null)
  and (rowid < (select rowid from audit_log where id = @after) or @after is null)
  order by rowid desc limit @limit`;

const list = statement<object, Row>(`select ${COLUMNS} from audit_log where ${FILTERS}`);
// Uses an index: listing one subject does not read the whole log.
const listOf = statement<object, Row>(
  `select ${COLUMNS} from audit_log where subject_id = @subjectId and ${FILTERS}`,
);
/** While it is open, entries can be changed and deleted. */
const setOpen = statement<{ isOpen: 0 | 1 }>('update audit_upkeep set is_open = @isOpen');
const deleteOld = oldRowDeleter('audit_log');

export const auditOperations: AuditOperations = {
  recordAudit: record,

  *deleteOldAudit(before, limit) {
    yield* setOpen.run({ isOpen: 1 });
    const gone = yield* deleteOld(before, limit);
    yield* setOpen.run({ isOpen: 0 });
    return gone;
  },

  *listAudit(query) {
    const rows = yield* (query.subjectId === null ? list : listOf).all({ after: null, ...query });
    return rows.map(decode);
  },
};

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

/** Replaces a removed name in the log. */
export const DELETED_MEMBER = 'deleted member';

interface Erased {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** Fields of `before` and `after` that name a member, wherever they are. */
const NAMING: ReadonlySet<string> = new Set(['owner', 'member', 'members', 'email', 'audience']);

/** Subjects with names of their own: the others are named after members. */
const OWN_NAMES: ReadonlySet<string> = new Set(['network', 'batch', 'device', 'alias']);

const former = statement<object, Pick<Row, 'before' | 'after'>>(
  `select before, after from audit_log where subject_id = @id and subject_kind = 'user'`,
);
const naming = statement<object, Row & { rowid: number }>(
  `select rowid, ${COLUMNS} from audit_log where instr(lower(
     actor || ' ' || subject_name || ' ' || coalesce(before, '') || ' ' || coalesce(after, '')
   ), lower(@word)) > 0`,
);
const update = statement(
  `update audit_log set actor = @actor, subject_name = @name, before = @before, after = @after
   where rowid = @rowid`,
);

/**
 * Removes the current and former names of a member from every entry: e-mail addresses anywhere,
 * names where they denote the member or are the prefix of a reference (`anna/den-pc`).
 */
export function* eraseFromAudit({ id, email, name }: Erased): Operation<void> {
  const [names, emails] = [new Set([name]), new Set([email])];
  const sides = (yield* former.all({ id })).flatMap(({ before, after }) => [before, after]);
  for (const side of sides) {
    const { name: other, email: address } = parse(side) ?? {};
    if (typeof other === 'string') names.add(other);
    if (typeof address === 'string') emails.add(address);
  }
  const erase = textEraser({ names: [...names], emails: [...emails] });
  yield* setOpen.run({ isOpen: 1 });
  for (const word of new Set([...names, ...emails].flatMap(asWritten))) {
    for (const row of yield* naming.all({ word })) yield* update.run(erased(row, id, erase));
  }
  yield* setOpen.run({ isOpen: 0 });
}

function erased(row: Row & { rowid: number }, id: string, erase: EraseText): object {
  const isUser = row.subject_kind === 'user';
  const isOwn = isUser && row.subject_id === id;
  const side = (json: string | null): string | null =>
    json === null ? null : JSON.stringify(eraseIn(JSON.parse(json), { isUser, erase }));
  return {
    rowid: row.rowid,
    // `agent:anna/den-pc`; other actors are ids.
    actor: row.actor.replace(/(?<=^agent:).*/s, (whose) => erase(whose, false)),
    name: isOwn ? DELETED_MEMBER : erase(row.subject_name, !OWN_NAMES.has(row.subject_kind)),
    before: side(row.before),
    after: side(row.after),
  };
}

/** The text itself, and its form in JSON. */
function asWritten(word: string): string[] {
  return [word, JSON.stringify(word).slice(1, -1)];
}

type EraseText = (text: string, names: boolean) => string;

function textEraser({ names, emails }: Record<'names' | 'emails', readonly string[]>): EraseText {
  return (text, isName) => {
    const lower = text.toLowerCase();
    if (emails.some((email) => lower.includes(email.toLowerCase()))) return DELETED_MEMBER;
    for (const name of names.map((one) => one.toLowerCase())) {
      if (isName && lower === name) return DELETED_MEMBER;
      if (isName && lower === `member ${name}`) return `member ${DELETED_MEMBER}`;
      if (lower.startsWith(`${name}/`)) return DELETED_MEMBER + text.slice(name.length);
    }
    return text;
  };
}

interface Place {
  /** Whether the entry is about a member, so that its `name` is a member's. */
  readonly isUser: boolean;
  readonly erase: EraseText;
  readonly field?: string;
}

function eraseIn(value: unknown, place: Place): unknown {
  const { isUser, erase, field = '' } = place;
  if (typeof value === 'string') {
    return erase(value, NAMING.has(field) || (isUser && field === 'name'));
  }
  if (Array.isArray(value)) return value.map((one) => eraseIn(one, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, eraseIn(one, { ...place, field: name })]),
  );
}
