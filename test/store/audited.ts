import type { AuditEntry, Store } from '@inference-gateway/coordinator/store/port';

/** All that the audit log has of an action, or of a noun, without what no test can know. */
export async function audited(
  store: Store,
  action: string,
): Promise<Omit<AuditEntry, 'id' | 'at'>[]> {
  const all = { since: null, actor: null, subjectId: null, limit: 100 };
  const entries = await store.listAudit({ ...all, action });
  return entries.map(({ id: _id, at: _at, ...entry }) => entry);
}
