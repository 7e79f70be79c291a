/**
 * What the model of a request means for its caller: a model that they may use, else an alias. The
 * order: a visible model of that name, the member's own alias, the gateway's; of each owner the
 * exact name before the longest pattern. An alias that leads to no model which the caller may use
 * for the endpoint is passed over, as if it were not there.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { throughAlias } from '../access/access.js';
import type { Alias } from '../access/aliases.js';
import type { Links } from './links.js';
import { knownModels, servingModels } from './match.js';
import type { Asking } from './match.js';

export type Naming = Pick<Links, 'candidates' | 'aliases'>;

interface Named<Caller> {
  readonly caller: Caller;
  readonly serviceType: ServiceType;
  /** As the caller wrote it. */
  readonly model: string;
}

export interface Resolved<Caller> {
  /**
   * `plain`: no alias has the name, and nothing was looked up. `model`: one has, but so has a model
   * that the caller may use. `unseen`: their own alias, and they may use none of its models.
   */
  readonly kind: 'plain' | 'model' | 'alias' | 'unseen';
  /** Null if the name is not taken as that of an alias. */
  readonly alias: Alias | null;
  /**
   * In the order in which they are tried, at least one: those that can serve now before those that
   * cannot. Of an alias, those that the caller may use.
   */
  readonly models: readonly string[];
  /** The caller, as they may reach these models. */
  readonly caller: Caller;
}

export function resolve<Caller extends Asking>(
  links: Naming,
  { caller, serviceType, model }: Named<Caller>,
): Resolved<Caller> {
  const itself: Resolved<Caller> = { kind: 'plain', alias: null, models: [model], caller };
  const meant = links.aliases.meant(caller.memberId, model);
  // Nearly every call ends here, at the cost of a look into two maps.
  if (meant.length === 0) return itself;
  const isKnown = (id: string, asking: Caller): boolean =>
    knownModels(links.candidates(serviceType, id), asking).length > 0;
  if (isKnown(model, caller)) return { ...itself, kind: 'model' };
  for (const alias of meant) {
    const admitted = throughAlias(caller, alias);
    const known = alias.models.filter((id) => isKnown(id, admitted));
    if (known.length === 0) continue;
    const serves = (id: string): boolean =>
      servingModels(links.candidates(serviceType, id), admitted).length > 0;
    const isServed = new Map(known.map((id) => [id, serves(id)]));
    const models = known.toSorted((a, b) => Number(isServed.get(b)) - Number(isServed.get(a)));
    return { kind: 'alias', alias, models, caller: admitted };
  }
  // The names in an alias of their own are no news to them: the error says which were sought.
  const own = meant.find(({ memberId }) => memberId !== null);
  if (own === undefined) return itself;
  return { kind: 'unseen', alias: own, models: own.models, caller: throughAlias(caller, own) };
}

/** Every model that the name may lead to, visible or not: for what the store knows of them. */
export function everyModel(
  { aliases }: Pick<Links, 'aliases'>,
  { memberId, model }: { readonly memberId: string; readonly model: string },
): readonly string[] {
  const meant = aliases.meant(memberId, model);
  return [...new Set([model, ...meant.flatMap(({ models }) => models)])];
}
