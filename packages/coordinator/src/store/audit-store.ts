/**
 * The part of the store's port that keeps who changed what. Operations of the store that change
 * who may do what write their entry themselves, in their own transaction.
 */

export interface AuditSubject {
  /** `user`, `key`, `provider`, … */
  readonly kind: string;
  readonly id: string;
  /** As people write it: an address, `OWNER/NAME`. */
  readonly name: string;
}

export interface NewAuditEntry {
  /** `key.create`: the command's noun and verb. */
  readonly action: string;
  readonly subject: AuditSubject;
  /** What differs; null if there was, or is, nothing. Never a secret. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface AuditEntry extends NewAuditEntry {
  readonly id: string;
  readonly at: number;
  /**
   * `cli:<user of the machine>`, `member:<id>`, `provider:<id>` (its agent, for its owner),
   * `agent`, `invite` or `system`.
   */
  readonly actor: string;
}

export interface AuditQuery {
  /** Null: since ever. */
  readonly since: number | null;
  /** A noun or an action: `key` or `key.create`; null for all. */
  readonly action: string | null;
  readonly actor: string | null;
  /** The subject's id. */
  readonly subjectId: string | null;
  readonly limit: number;
  /** The id of the last one seen: what is older is listed. */
  readonly after?: string | null;
}

export interface AuditStore {
  /** Of entries from before. It looks at the oldest ones alone, and returns how many went. */
  deleteOldAudit(before: number, limit: number): Promise<number>;
  /** For what is done elsewhere than in the store: to a link, to a file. */
  recordAudit(entry: NewAuditEntry): Promise<void>;
  /** The newest first. */
  listAudit(query: AuditQuery): Promise<readonly AuditEntry[]>;
}
