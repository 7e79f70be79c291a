import type { AuditEntry, Store } from '@inference-gateway/coordinator/store/port';

/**
 * The audit log's entries for an action or a noun, without id and time, which tests cannot predict.
 */
export async function audited(
  store: Store,
  action: string,
): Promise<Omit<AuditEntry, 'id' | 'at'>[]> {
  const all = { since: null, actor: null, subjectId: null, limit: 100 };
  const entries = await store.listAudit({ ...all, action });
  return entries.map(({ id: _id, at: _at, ...entry }) => entry);
}
