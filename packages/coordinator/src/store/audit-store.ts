/**
 * The part of the store's port for the audit log. Operations of the store that change permissions
 * write their entry themselves, in their own transaction.
 */

export interface AuditSubject {
  /** `user`, `key`, `provider`, … */
  readonly kind: string;
  readonly id: string;
  /** For people: an e-mail address, `OWNER/NAME`. */
  readonly name: string;
}

export interface NewAuditEntry {
  /** Noun and verb of the command: `key.create`. */
  readonly action: string;
  readonly subject: AuditSubject;
  /** The fields that differ; null if there was, or is, nothing. Never a secret. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface AuditEntry extends NewAuditEntry {
  readonly id: string;
  readonly at: number;
  /**
   * `cli:<user of the machine>`, `member:<id>`, `provider:<id>` (its agent, for its owner),
   * `agent`, `invite`, `oidc`, `reset link` or `system`.
   */
  readonly actor: string;
}

export interface AuditQuery {
  /** Null: no lower bound. */
  readonly since: number | null;
  /** A noun or an action: `key` or `key.create`; null for all. */
  readonly action: string | null;
  readonly actor: string | null;
  /** The subject's id. */
  readonly subjectId: string | null;
  readonly limit: number;
  /** The id of the last one seen: older entries follow. */
  readonly after?: string | null;
}

export interface AuditStore {
  /** Deletes entries from before. It reads only the oldest ones, and returns the number deleted. */
  deleteOldAudit(before: number, limit: number): Promise<number>;
  /** For changes outside of the store: to a link, to a file. */
  recordAudit(entry: NewAuditEntry): Promise<void>;
  /** The newest first. */
  listAudit(query: AuditQuery): Promise<readonly AuditEntry[]>;
}
