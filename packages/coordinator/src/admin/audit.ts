import * as z from 'zod';
import type { AuditEntry } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import { listLimit } from './list-limit.js';

const ACTION_RULE = "an action is a noun, or noun.verb: 'key' or 'key.create'";

const question = z.strictObject({
  /** Null: since ever. */
  since_s: z.int().min(1).nullable(),
  action: z
    .string()
    .regex(/^[a-z]+(\.[a-z-]+)?$/, ACTION_RULE)
    .nullable(),
  actor: z.string().nullable(),
  /** The subject's id: what it was called may have changed since. */
  subject: z.string().nullable(),
  limit: listLimit,
});

export const listAudit = adminCommand(question, async ({ store, now }, args) => {
  const { since_s, action, actor, subject: subjectId, limit } = args;
  const since = since_s === null ? null : now() - since_s * 1_000;
  return (await store.listAudit({ since, action, actor, subjectId, limit })).map(present);
});

function present({ id, at, actor, action, subject, before, after }: AuditEntry) {
  return { id, at, actor, action, subject, before: asPrinted(before), after: asPrinted(after) };
}

/** With its fields named as everywhere else in JSON: `expires_at`. */
function asPrinted(fields: AuditEntry['before']): Readonly<Record<string, unknown>> | null {
  if (fields === null) return null;
  const named = Object.entries(fields).map(([field, value]): [string, unknown] => [
    field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    isRecord(value) ? asPrinted(value) : value,
  ]);
  return Object.fromEntries(named);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
