import * as z from 'zod';
import type { AuditEntry, Store } from '../store/port.js';
import { adminRead } from './operation.js';
import { listLimit } from './arguments.js';
import { memberNames, providerNames, resolveMember } from './references.js';

const ACTION_RULE = "an action is a noun, or noun.verb: 'key' or 'key.create'";

const question = z.strictObject({
  /** Null: no lower bound. */
  since_s: z.int().min(1).nullable(),
  action: z
    .string()
    .regex(/^[a-z]+(\.[a-z-]+)?$/, ACTION_RULE)
    .nullable(),
  /** As in an entry, or a reference to a member. */
  actor: z.string().nullable(),
  /** The subject's id: its name may have changed. */
  subject: z.string().nullable(),
  limit: listLimit,
  /** The id of the last entry seen: older ones follow. */
  after: z.string().nullable().default(null),
});

export const listAudit = adminRead(question, async ({ store, now }, args) => {
  const { since_s, action, subject: subjectId, limit, after } = args;
  const since = since_s === null ? null : now() - since_s * 1_000;
  const actor = args.actor === null ? null : await actorOf(store, args.actor);
  const entries = await store.listAudit({ since, action, actor, subjectId, limit, after });
  const names = await actorNames(store);
  return entries.map((entry) => present(entry, names));
});

/** Actors that are not members, besides `cli:<user>`. */
const PARTS_OF_THE_GATEWAY: ReadonlySet<string> = new Set(
  ['agent', 'invite', 'setup', 'system'].concat('oidc', 'reset link'),
);

/** Resolves a member's name, because entries contain ids. */
async function actorOf(store: Store, actor: string): Promise<string> {
  if (actor.includes(':') || PARTS_OF_THE_GATEWAY.has(actor)) return actor;
  return `member:${(await resolveMember(store, actor)).id}`;
}

/** Current names of the actors that are ids. */
async function actorNames(store: Store): Promise<ReadonlyMap<string, string>> {
  const [members, providers] = [await memberNames(store), await providerNames(store)];
  return new Map([
    ...[...members].map(([id, name]): [string, string] => [`member:${id}`, name]),
    ...[...providers].map(([id, name]): [string, string] => [`provider:${id}`, name]),
  ]);
}

function present(entry: AuditEntry, names: ReadonlyMap<string, string>) {
  const { id, at, actor, action, subject, before, after } = entry;
  return {
    id,
    at,
    actor,
    /** Null if the actor is no member or provider, or was deleted. */
    actor_name: names.get(actor) ?? null,
    action,
    subject,
    before: asPrinted(before),
    after: asPrinted(after),
  };
}

/** With field names as elsewhere in JSON: `expires_at`. */
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
