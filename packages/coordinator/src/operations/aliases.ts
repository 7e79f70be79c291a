import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { ALIAS_LIMITS, aliasNameFault, chainFault } from '../core/access/aliases.js';
import type { Links } from '../core/routing/links.js';
import { knownModels } from '../core/routing/match.js';
import { resolve } from '../core/routing/resolve.js';
import type { Member, StoredAlias } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { resolveMember, unknown } from './references.js';

/** A member; null: the aliases are the gateway's. */
const whose = z.string().nullable();

/** Without the checks of the name and the chain. */
export const newAlias = z.strictObject({
  name: z.string(),
  models: z.array(z.string()),
  user: whose,
});

type NamedChain = Pick<z.output<typeof newAlias>, 'name' | 'models'>;

/** The refinement of `newAlias`, and of what a member sends. */
export function checkAlias({ name, models }: NamedChain, context: z.RefinementCtx): void {
  const faults = { name: aliasNameFault(name), models: chainFault(name, models) };
  for (const [field, message] of Object.entries(faults)) {
    if (message !== null) context.addIssue({ code: 'custom', path: [field], message });
  }
}

/** Creates the alias, or replaces its chain. */
export const setAlias = adminChange(newAlias.superRefine(checkAlias), async (context, args) => {
  const { store, links, now } = context;
  const { name, models } = args;
  const member = args.user === null ? null : await resolveMember(store, args.user);
  const memberId = member?.id ?? null;
  if (links !== null && memberId !== null) refuseNesting(links, memberId, models);
  const { ofMember, ofGateway } = ALIAS_LIMITS;
  const cap = memberId === null ? ofGateway : ofMember;
  const outcome = await store.setAlias({ memberId, name, models, cap }, now());
  switch (outcome.kind) {
    case 'set': {
      const warnings = links === null ? [] : warningsOf(links, outcome.value);
      return { ...present(outcome.value), before: outcome.before, warnings };
    }
    case 'names_alias':
      throw namesAlias(outcome.alias);
    case 'named_by': {
      const message = `the alias '${outcome.alias}' names '${name}' as a model`;
      throw new CommandError(
        EXIT.conflict,
        `${message}: aliases do not nest. Choose another name.`,
      );
    }
    case 'full': {
      const message = `there are ${outcome.count} aliases, and ${cap} is the most`;
      throw new CommandError(EXIT.conflict, `${message}. Remove some first.`);
    }
  }
});

/** Of a member: their own; null: those of the gateway and of all members. */
export const listAliases = adminRead(
  z.strictObject({ user: whose }),
  async ({ store }, { user }) => {
    const member = user === null ? null : await resolveMember(store, user);
    const aliases = await store.listAliases();
    const wanted = aliases.filter(({ memberId }) => member === null || memberId === member.id);
    return wanted.map(present);
  },
);

export const removeAlias = adminChange(
  z.strictObject({ name: z.string(), user: whose }),
  async ({ store }, { name, user }) => {
    const member = user === null ? null : await resolveMember(store, user);
    const memberId = member?.id ?? null;
    if (await store.removeAlias(memberId, name)) return { name, owner: member?.name ?? null };
    const own = (await store.listAliases()).filter((alias) => alias.memberId === memberId);
    const known = own.map((alias) => alias.name);
    throw unknown('alias', { reference: name, known, list: 'alias list' });
  },
);

/**
 * What a member may call: their own aliases, and those of the gateway with the models that they may
 * use. One of the gateway that leads them to none of these does not exist for them.
 */
export async function aliasesFor({ store, links }: AdminContext, { id }: Member) {
  const aliases = await store.listAliases();
  return aliases.flatMap((alias) => {
    if (alias.memberId === id) return [{ ...present(alias), own: true }];
    if (alias.memberId !== null || links === null) return [];
    const models = alias.models.filter((model) => maySee(links, id, model));
    return models.length === 0 ? [] : [{ ...present({ ...alias, models }), own: false }];
  });
}

function present({ id, name, models, memberName, createdAt, updatedAt }: StoredAlias) {
  return {
    id,
    name,
    models,
    /** Null: the gateway. */
    owner: memberName,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** A chain of a member also names no alias of the gateway, as far as they may know of it. */
function refuseNesting(links: Links, memberId: string, models: readonly string[]): void {
  const caller = { memberId, scope: 'any' } as const;
  for (const model of models) {
    const isAlias = SERVICE_TYPES.some((serviceType) => {
      const { alias } = resolve(links, { caller, serviceType, model });
      return alias?.memberId === null && alias.name === model;
    });
    if (isAlias && !maySee(links, memberId, model)) throw namesAlias(model);
  }
}

function namesAlias(alias: string): CommandError {
  const message = `'${alias}' is an alias, and aliases do not nest: name its models instead.`;
  return new CommandError(EXIT.conflict, message);
}

/** What is allowed, but may be a mistake. */
function warningsOf(links: Links, { name, models, memberId }: StoredAlias): readonly string[] {
  const unseen = models.filter((model) => !isServed(links, memberId, model));
  const may = memberId === null ? '' : ' that its owner may use';
  const warnings = unseen.map((model) => `No provider${may} has served '${model}' so far.`);
  if (!isServed(links, memberId, name)) return warnings;
  return [...warnings, `A model is called '${name}', too: who may use it gets the model.`];
}

function isServed(links: Links, memberId: string | null, model: string): boolean {
  if (memberId !== null) return maySee(links, memberId, model);
  return SERVICE_TYPES.some((serviceType) => links.candidates(serviceType, model).length > 0);
}

/** Online or not, of any service type. */
function maySee(links: Links, memberId: string, model: string): boolean {
  const caller = { memberId, scope: 'any' } as const;
  return SERVICE_TYPES.some(
    (serviceType) => knownModels(links.candidates(serviceType, model), caller).length > 0,
  );
}
