import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { newKeySecret } from '../accounts/key-secret.js';
import { CALL_PATHS } from '@inference-gateway/shared/endpoints';
import { ASSETS_ACCESS } from '@inference-gateway/shared/media/types';
import { NAME_PATTERN, NAME_RULE } from '../core/access/name.js';
import { changedRules, presentUse } from '../core/usage/quota.js';
import type { ApiKey, Store } from '../store/port.js';
import { adminChange, adminRead, capOf, capReached } from './operation.js';
import type { AdminContext } from './operation.js';
import { presentQuota, quotaFields, withoutAbsent } from './limits.js';
import { resolveKey, resolveMember } from './references.js';
import { lifeSeconds } from './arguments.js';

/** More than a member's programs use. */
const MAX_MODELS = 100;

const MODELS_RULE = `name from 1 to ${MAX_MODELS} models`;

const modelName = z.string().min(1, 'a model has a name').max(256, 'at most 256 characters');

const ENDPOINTS_RULE = `name some of ${CALL_PATHS.join(', ')}`;

const keyRules = {
  /** Absent: unchanged; null: all models that the member may use. */
  models: z.array(modelName).min(1, MODELS_RULE).max(MAX_MODELS, MODELS_RULE).nullish(),
  /** Absent: unchanged; null: all endpoints. */
  endpoints: z.array(z.enum(CALL_PATHS, ENDPOINTS_RULE)).min(1, ENDPOINTS_RULE).nullish(),
  ...quotaFields(),
};

const newKey = z.strictObject({
  user: z.string(),
  name: z.string().regex(NAME_PATTERN, NAME_RULE),
  scope: z.enum(['own', 'any']),
  assets: z.enum(ASSETS_ACCESS).nullish(),
  expires_in_s: lifeSeconds.nullable(),
  ...keyRules,
});

/** The only time that the key itself is shown. */
export const createKey = adminChange(newKey, async (context, args) => {
  const { store, now } = context;
  const owner = await resolveMember(store, args.user);
  const { models, endpoints, day, month } = args;
  const { secret, kept } = newKeySecret();
  const at = now();
  const created = await store.createKey(
    {
      memberId: owner.id,
      name: args.name,
      ...kept,
      scope: args.scope,
      assets: args.assets ?? null,
      rules: changedRules(null, withoutAbsent({ models, endpoints, day, month })),
      expiresAt: args.expires_in_s === null ? null : at + args.expires_in_s * 1_000,
      cap: capOf(context, 'API keys'),
    },
    at,
  );
  if (created.kind === 'created') return { ...present(created.value, at), key: secret };
  if (created.kind === 'full') throw capReached('API keys', created);
  throw keyExists(owner.email, args.name);
});

export const listKeys = adminRead(
  z.strictObject({ user: z.string().nullable() }),
  async ({ store, now }, { user }) => {
    const owner = user === null ? null : await resolveMember(store, user);
    const disabled = await disabledMembers(store);
    return (await store.listKeys(owner?.id ?? null)).map((key) => present(key, now(), disabled));
  },
);

export const renameKey = adminChange(
  z.strictObject({ key: z.string(), name: z.string().regex(NAME_PATTERN, NAME_RULE) }),
  async ({ store }, args) => {
    const key = await resolveKey(store, args.key);
    const changed = await store.renameKey(key.id, args.name);
    if (changed.kind === 'unknown') throw isRevoked(key);
    if (changed.kind === 'taken') throw keyExists(key.memberEmail, args.name);
    return { id: key.id, name: nameOf(changed.value), was: nameOf(key) };
  },
);

/** Applies from the next request on, and to jobs when they are claimed. */
export const limitKey = adminChange(
  z
    .strictObject({ key: z.string(), ...keyRules })
    .refine(({ key: _key, ...rules }) => Object.values(rules).some((one) => one !== undefined), {
      path: ['rules'],
      message: 'name at least one: --models, --endpoints, --day or --month',
    }),
  async ({ store, now }, args) => {
    const key = await resolveKey(store, args.key);
    const { key: _key, ...rules } = args;
    const changed = await store.setKeyRules(key.id, withoutAbsent(rules));
    if (changed === null) throw isRevoked(key);
    return present(changed, now(), await disabledMembers(store));
  },
);

/** One key, with what it has used in the current day and month. */
export const showKey = adminRead(z.strictObject({ key: z.string() }), async (context, args) => {
  const { store, now } = context;
  const key = await resolveKey(store, args.key);
  const at = now();
  const use = await store.quotaUse({ memberId: key.memberId, keyId: key.id }, at);
  return { ...present(key, at, await disabledMembers(store)), used: presentUse(use, at) };
});

/** An unlimited overlap would leave two valid secrets. */
const MAX_OVERLAP_S = 90 * 86_400;

const OVERLAP_RULE = 'the old secret stays good for at most 90d';

/** The only time that the new secret is shown. */
export const rotateKey = adminChange(
  z.strictObject({
    key: z.string(),
    overlap_s: z.int().min(0).max(MAX_OVERLAP_S, OVERLAP_RULE),
  }),
  async ({ store, now }, args) => {
    const key = await resolveKey(store, args.key);
    const { secret, kept } = newKeySecret();
    const at = now();
    const previousUntil = at + args.overlap_s * 1_000;
    const rotated = await store.rotateKey(key.id, { ...kept, previousUntil }, at);
    if (rotated === null) throw isRevoked(key);
    const shown = present(rotated, at, await disabledMembers(store));
    return { ...shown, key: secret };
  },
);

const oneKey = z.strictObject({ key: z.string() });

export const disableKey = adminChange(oneKey, (context, args) =>
  setState(context, args.key, 'disabled'),
);

export const enableKey = adminChange(oneKey, (context, args) =>
  setState(context, args.key, 'enabled'),
);

export const revokeKey = adminChange(oneKey, (context, args) =>
  setState(context, args.key, 'revoked'),
);

async function setState(
  { store, now }: AdminContext,
  reference: string,
  state: 'disabled' | 'enabled' | 'revoked',
) {
  const key = await resolveKey(store, reference);
  if (!(await store.setKeyState(key.id, state, now()))) throw isRevoked(key);
  const disabled = await disabledMembers(store);
  return { id: key.id, name: nameOf(key), state, is_owner_disabled: disabled.has(key.memberId) };
}

async function disabledMembers(store: Store): Promise<ReadonlySet<string>> {
  const members = await store.listMembers();
  return new Set(members.flatMap(({ id, disabledAt }) => (disabledAt === null ? [] : [id])));
}

function keyExists(owner: string, name: string): CommandError {
  const message = `${owner} has a key '${name}' already. Give another name, or revoke that one.`;
  return new CommandError(EXIT.conflict, message);
}

function isRevoked(key: ApiKey): CommandError {
  const name = `${nameOf(key)} (${key.id})`;
  const message = `${name} is revoked, which cannot be taken back. Create a new key.`;
  return new CommandError(EXIT.conflict, message);
}

function nameOf({ memberEmail, name }: ApiKey): string {
  return `${memberEmail}/${name}`;
}

/** `disabled`: members whose keys are refused in any state. */
function present(key: ApiKey, now: number, disabled: ReadonlySet<string> = new Set()) {
  const state = keyState(key, now);
  const previousUntil = key.previousUntil ?? 0;
  return {
    id: key.id,
    name: key.name,
    owner: key.memberEmail,
    prefix: key.prefix,
    state: state === 'active' && disabled.has(key.memberId) ? 'disabled' : state,
    scope: key.scope,
    assets: key.assets,
    /** Null: all that the member may use. */
    models: key.rules?.models ?? null,
    /** Null: all. */
    endpoints: key.rules?.endpoints ?? null,
    ...presentQuota(key.rules),
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    previous_until: previousUntil > now ? previousUntil : null,
    disabled_at: key.disabledAt,
    revoked_at: key.revokedAt,
  };
}

type KeyState = 'active' | 'disabled' | 'expired' | 'revoked';

/** The state of the key itself, the most permanent first. */
export function keyState(key: ApiKey, now: number): KeyState {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired';
  return key.disabledAt === null ? 'active' : 'disabled';
}
