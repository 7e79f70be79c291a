/** The providers that could run a waiting job, and when one of them was last online. */
import type { Lane } from '../core/jobs/lane.js';
import type { Links } from '../core/routing/links.js';
import { capableCandidates } from '../core/routing/match.js';
import type { Choice } from '../core/routing/match.js';
import { lastReach } from '../core/routing/presence.js';
import type { ServedModel } from '../core/routing/presence.js';
import type { Store } from '../store/port.js';

export interface ReachParts {
  readonly store: Pick<Store, 'servedModels'>;
  readonly links: Pick<Links, 'candidates' | 'shared'>;
}

export type Sought = Pick<Lane, 'serviceType' | 'model' | 'memberId' | 'scope' | 'needs'>;

/** For one pass over many jobs: it reads each model once. */
export class Reach {
  readonly #parts: ReachParts;
  readonly #served = new Map<string, Promise<readonly ServedModel[]>>();

  constructor(parts: ReachParts) {
    this.#parts = parts;
  }

  /** Providers that could run such a job, online or not. */
  candidates({ serviceType, model, memberId, scope, needs }: Sought): readonly Choice[] {
    const candidates = this.#parts.links.candidates(serviceType, model);
    return capableCandidates(candidates, { caller: { memberId, scope }, needs });
  }

  /** Unix ms; `now` if one is linked to any coordinator, null if there is none. */
  async lastServedAt(sought: Sought, now: number): Promise<number | null> {
    if (this.candidates(sought).some(({ online }) => online)) return now;
    const { memberId, scope, needs } = sought;
    const { links } = this.#parts;
    const sharedOf = links.shared.bind(links);
    return lastReach(
      await this.#servedModels(sought),
      { caller: { memberId, scope }, needs, sharedOf },
      now,
    );
  }

  #servedModels({ serviceType, model }: Sought): Promise<readonly ServedModel[]> {
    const key = `${serviceType} ${model}`;
    const known = this.#served.get(key) ?? this.#parts.store.servedModels(serviceType, model);
    this.#served.set(key, known);
    return known;
  }
}
