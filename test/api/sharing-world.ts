/**
 * A naive model of who may use what: plain lists and one rule, written without looking at the
 * gateway's own rule. Tests compare what the gateway shows and routes with it.
 */
import { constantFrom, oneof, record, constant } from 'fast-check';
import type { Arbitrary } from 'fast-check';

export const MEMBERS = ['Anna', 'Ben', 'Cleo', 'Dora', 'Emil'] as const;
export type Member = (typeof MEMBERS)[number];

/** By the provider's name. */
export const OWNERS = { willow: 'Anna', heron: 'Ben', falcon: 'Cleo', badger: 'Dora' } as const;
export type ProviderName = keyof typeof OWNERS;
export const PROVIDERS = Object.keys(OWNERS) as ProviderName[];

/** By the network's name; its owner never leaves it. */
export const FOUNDERS = { harbour: 'Anna', meadow: 'Ben', summit: 'Emil' } as const;
export type NetworkName = keyof typeof FOUNDERS;
export const NETWORKS = Object.keys(FOUNDERS) as NetworkName[];

export interface TownModel {
  readonly id: string;
  readonly provider: ProviderName;
  readonly service: string;
  readonly type: 'llm' | 'tts' | 'image' | 'stt';
  /** False: its owner's machine accepts no work of others. */
  readonly foreign: boolean;
}

export const TOWN_MODELS: readonly TownModel[] = [
  { id: 'quartz-chat', provider: 'willow', service: 'chats', type: 'llm', foreign: true },
  { id: 'basalt-chat', provider: 'willow', service: 'chats', type: 'llm', foreign: true },
  { id: 'opal-voice', provider: 'heron', service: 'voices', type: 'tts', foreign: true },
  { id: 'onyx-chat', provider: 'heron', service: 'chats', type: 'llm', foreign: true },
  { id: 'amber-image', provider: 'falcon', service: 'images', type: 'image', foreign: true },
  { id: 'topaz-ear', provider: 'falcon', service: 'ears', type: 'stt', foreign: true },
  { id: 'jade-chat', provider: 'badger', service: 'chats', type: 'llm', foreign: true },
  { id: 'pyrite-chat', provider: 'badger', service: 'kept', type: 'llm', foreign: false },
];

export interface WorldShare {
  readonly kind: 'share';
  readonly provider: ProviderName;
  /** If both are null: all that the provider serves. */
  readonly service: string | null;
  readonly model: string | null;
  /** Exactly one of the two is null. */
  readonly network: NetworkName | null;
  readonly user: Member | null;
}

export type Action =
  | WorldShare
  | { readonly kind: 'unshare' | 'approve' | 'drain' | 'resume'; readonly provider: ProviderName }
  | { readonly kind: 'join' | 'leave'; readonly network: NetworkName; readonly member: Member }
  | { readonly kind: 'block' | 'unblock'; readonly owner: Member; readonly member: Member }
  | { readonly kind: 'disable' | 'enable'; readonly member: Member };

export class World {
  readonly #shares = new Map<string, WorldShare>();
  /** What is true now: `Ben in harbour`, `Anna blocks Ben`, `Ben is disabled`, `heron drains`. */
  readonly #facts = new Set<string>(
    NETWORKS.map((network) => `${FOUNDERS[network]} in ${network}`),
  );

  /** Whether the member may know the model, and use it while a provider is available. */
  mayUse(member: Member, { id, provider, service, foreign }: TownModel): boolean {
    const owner = OWNERS[provider];
    const isServed = this.is(`${provider} is approved`) && !this.is(`${owner} is disabled`);
    if (!isServed || this.is(`${member} is disabled`)) return false;
    if (member === owner) return true;
    if (!foreign || this.is(`${owner} blocks ${member}`)) return false;
    return [...this.#shares.values()].some((share) => {
      const isOfIt = share.provider === provider;
      const isOfModel = share.model === null || share.model === id;
      const isOfService = share.service === null || share.service === service;
      const isIn = share.network !== null && this.is(`${member} in ${share.network}`);
      return isOfIt && isOfModel && isOfService && (isIn || share.user === member);
    });
  }

  /** Whether the member can use the model now. */
  serves(member: Member, model: TownModel): boolean {
    return this.mayUse(member, model) && !this.is(`${model.provider} drains`);
  }

  isDisabled(member: Member): boolean {
    return this.is(`${member} is disabled`);
  }

  /** Applies the action; false if it would change nothing or is not allowed. */
  apply(action: Action): boolean {
    switch (action.kind) {
      case 'share':
        return this.#share(action);
      case 'unshare':
        return this.#unshare(action.provider);
      case 'approve':
        return this.#set(`${action.provider} is approved`, true);
      case 'drain':
      case 'resume':
        return this.#set(`${action.provider} drains`, action.kind === 'drain');
      case 'join':
      case 'leave': {
        const { kind, member, network } = action;
        return (
          FOUNDERS[network] !== member && this.#set(`${member} in ${network}`, kind === 'join')
        );
      }
      case 'block':
      case 'unblock': {
        const { kind, owner, member } = action;
        return owner !== member && this.#set(`${owner} blocks ${member}`, kind === 'block');
      }
      case 'disable':
      case 'enable':
        return this.#set(`${action.member} is disabled`, action.kind === 'disable');
    }
  }

  is(fact: string): boolean {
    return this.#facts.has(fact);
  }

  /** All facts and shares, for the report of a failure. */
  toString(): string {
    const shares = [...this.#shares.values()].map((share) => JSON.stringify(share));
    return [...this.#facts, ...shares].join('\n');
  }

  #share(share: WorldShare): boolean {
    const isOwn = share.user === OWNERS[share.provider];
    const key = JSON.stringify(share);
    if (isOwn || this.#shares.has(key)) return false;
    this.#shares.set(key, share);
    return true;
  }

  #unshare(provider: ProviderName): boolean {
    const ended = [...this.#shares].filter(([, share]) => share.provider === provider);
    for (const [key] of ended) this.#shares.delete(key);
    return ended.length > 0;
  }

  #set(fact: string, is: boolean): boolean {
    if (this.is(fact) === is) return false;
    if (is) this.#facts.add(fact);
    else this.#facts.delete(fact);
    return true;
  }
}

const provider = constantFrom(...PROVIDERS);
const network = constantFrom(...NETWORKS);
const member = constantFrom(...MEMBERS);

/** What is shared: the whole provider, one of its services, or one of its models. */
const subject = constantFrom(...TOWN_MODELS).chain(({ provider, service, id: model }) =>
  constantFrom(
    { provider, service: null, model: null },
    { provider, service, model: null },
    { provider, service: null, model },
  ),
);

const audience: Arbitrary<Pick<WorldShare, 'network' | 'user'>> = oneof(
  record({ network, user: constant(null) }),
  record({ network: constant(null), user: member }),
);

const share = record({ subject, audience }).map(({ subject, audience }): WorldShare => ({
  kind: 'share',
  ...subject,
  ...audience,
}));
const join = record({ kind: constant('join' as const), network, member });

/** The providers that are approved at the beginning; the fourth waits for approval. */
export const OPENING: readonly Action[] = (['willow', 'heron', 'falcon'] as const).map(
  (provider) => ({ kind: 'approve', provider }),
);

/** Actions that give a town enough shares and memberships to check. */
export const beginnings: Arbitrary<Action> = oneof(share, join);

export const actions: Arbitrary<Action> = oneof(
  { weight: 5, arbitrary: share },
  { weight: 3, arbitrary: join },
  { weight: 2, arbitrary: record({ kind: constant('leave' as const), network, member }) },
  { weight: 5, arbitrary: onProvider('unshare', 'approve', 'drain', 'drain', 'resume') },
  {
    weight: 6,
    arbitrary: record({
      kind: constantFrom('block' as const, 'block' as const, 'unblock' as const),
      owner: constantFrom(...Object.values(OWNERS)),
      member,
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      kind: constantFrom('disable' as const, 'enable' as const, 'enable' as const),
      member,
    }),
  },
);

function onProvider<Kind extends 'unshare' | 'approve' | 'drain' | 'resume'>(...kinds: Kind[]) {
  return record({ kind: constantFrom(...kinds), provider });
}
