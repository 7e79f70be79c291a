/** The providers that could run a waiting job, and when one of them was last online. */
import type { Lane } from '../core/jobs/lane.js';
import type { Links } from '../core/routing/links.js';
import { capableCandidates } from '../core/routing/match.js';
import type { Choice } from '../core/routing/match.js';
import { lastReach } from '../core/routing/presence.js';
import { everyModel, resolve } from '../core/routing/resolve.js';
import type { ServedModel } from '../core/routing/presence.js';
import type { Store } from '../store/port.js';

export interface ReachParts {
  readonly store: Pick<Store, 'servedModels'>;
  readonly links: Pick<Links, 'aliases' | 'candidates' | 'shared'>;
}

export type Sought = Pick<Lane, 'serviceType' | 'model' | 'memberId' | 'scope' | 'needs'> & {
  readonly alias?: string | null;
};

/** For one pass over many jobs: it reads each model once. */
export class Reach {
  readonly #parts: ReachParts;
  readonly #served = new Map<string, Promise<readonly ServedModel[]>>();

  constructor(parts: ReachParts) {
    this.#parts = parts;
  }

  /** Providers that could run such a job, online or not. */
  candidates(sought: Sought): readonly Choice[] {
    const { serviceType, memberId, scope, needs } = sought;
    const { links } = this.#parts;
    return this.#models(sought).flatMap((model) =>
      capableCandidates(links.candidates(serviceType, model), {
        caller: { memberId, scope },
        needs,
      }),
    );
  }

  /** Several under an alias. */
  #models({ serviceType, model, alias = null, memberId, scope }: Sought): readonly string[] {
    if (alias === null) return [model];
    const { links } = this.#parts;
    const named = { caller: { memberId, scope }, serviceType, model: alias };
    const { kind, models } = resolve(links, named);
    return kind === 'plain' ? [model] : models;
  }

  /** Unix ms; `now` if one is linked to any coordinator, null if there is none. */
  async lastServedAt(sought: Sought, now: number): Promise<number | null> {
    if (this.candidates(sought).some(({ online }) => online)) return now;
    const { serviceType, memberId, scope, needs } = sought;
    const { links } = this.#parts;
    const request = { caller: { memberId, scope }, needs, sharedOf: links.shared.bind(links) };
    const times = await Promise.all(
      this.#everyModel(sought).map(async (model) =>
        lastReach(await this.#servedModels({ serviceType, model }), request, now),
      ),
    );
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : Math.max(...known);
  }

  /** Also those that no provider serves any more. */
  #everyModel({ model, alias = null, memberId }: Sought): readonly string[] {
    if (alias === null) return [model];
    return [...new Set([model, ...everyModel(this.#parts.links, { memberId, model: alias })])];
  }

  #servedModels({
    serviceType,
    model,
  }: Pick<Sought, 'serviceType' | 'model'>): Promise<readonly ServedModel[]> {
    const key = `${serviceType} ${model}`;
    const known = this.#served.get(key) ?? this.#parts.store.servedModels(serviceType, model);
    this.#served.set(key, known);
    return known;
  }
}
