/**
 * Aliases: a name, or a pattern that ends in `*`, stands for an ordered chain of models. Members
 * have their own; administrators set those of the gateway. An alias opens nothing: each model of
 * its chain is reached only as far as the caller may use it.
 */

export const ALIAS_LIMITS = {
  /** Of one member. Each is kept in memory. */
  ofMember: 50,
  /** Of the gateway. */
  ofGateway: 200,
  /** A call may try each of them. */
  models: 8,
  nameCharacters: 128,
  modelCharacters: 256,
} as const;

export interface Alias {
  /** Null: the gateway's. */
  readonly memberId: string | null;
  /** Ends in `*` if it is a pattern. Compared as the ids of models are: letter case counts. */
  readonly name: string;
  /** The first one that can serve is taken. */
  readonly models: readonly string[];
}

const NAME = /^(?!\s)[^*,\p{C}]*\*?(?<!\s)$/u;

/** What is wrong with the name; null if nothing is. */
export function aliasNameFault(name: string): string | null {
  const { nameCharacters: most } = ALIAS_LIMITS;
  if (name === '' || name.length > most) return `an alias has 1 to ${most} characters`;
  if (name.slice(0, -1).includes('*')) {
    return `'${name}' has a '*' before its end: a pattern has one, as its last character`;
  }
  if (NAME.test(name)) return null;
  return 'an alias has no comma, no control character and no white space around it';
}

/** What is wrong with the chain of the alias; null if nothing is. */
export function chainFault(name: string, models: readonly string[]): string | null {
  const { models: most, modelCharacters } = ALIAS_LIMITS;
  if (models.length === 0 || models.length > most) {
    return `an alias stands for 1 to ${most} models, not ${models.length}`;
  }
  for (const [at, model] of models.entries()) {
    if (model === '' || model.length > modelCharacters) {
      return `the name of a model has 1 to ${modelCharacters} characters`;
    }
    if (model.includes('*')) return `'${model}' is a pattern: a chain names models`;
    if (model === name) return `'${model}' is the alias itself: a chain names other models`;
    if (models.indexOf(model) !== at) return `'${model}' is named twice: name it once`;
  }
  return null;
}

export function isPattern(name: string): boolean {
  return name.endsWith('*');
}

/** All aliases, by owner and name. */
export class AliasIndex {
  /** By member id; the gateway's with null. */
  readonly #owners = new Map<string | null, OwnersAliases>();

  constructor(aliases: readonly Alias[]) {
    for (const alias of aliases) {
      const known = this.#owners.get(alias.memberId);
      const owned: OwnersAliases = known ?? { exact: new Map(), patterns: [] };
      this.#owners.set(alias.memberId, owned);
      if (isPattern(alias.name)) owned.patterns.push(alias);
      else owned.exact.set(alias.name, alias);
    }
    for (const { patterns } of this.#owners.values()) {
      patterns.sort((a, b) => b.name.length - a.name.length);
    }
  }

  /**
   * The aliases that a name means for a member, in their order: the member's own before the
   * gateway's, and of each first the exact name, then the longest pattern.
   */
  meant(memberId: string, name: string): readonly Alias[] {
    if (this.#owners.size === 0) return NONE;
    return [memberId, null].flatMap((owner) => meantBy(this.#owners.get(owner), name));
  }

  /** The names, without patterns, that a member may call: each once. */
  names(memberId: string): readonly string[] {
    const owners = [memberId, null].flatMap((owner) => this.#owners.get(owner) ?? []);
    return [...new Set(owners.flatMap(({ exact }) => [...exact.keys()]))];
  }
}

interface OwnersAliases {
  readonly exact: Map<string, Alias>;
  /** The longest first. */
  readonly patterns: Alias[];
}

const NONE: readonly Alias[] = [];

export const NO_ALIASES = new AliasIndex([]);

function meantBy(owned: OwnersAliases | undefined, name: string): readonly Alias[] {
  if (owned === undefined) return NONE;
  const exact = owned.exact.get(name);
  const patterns = owned.patterns.filter((alias) => name.startsWith(alias.name.slice(0, -1)));
  return exact === undefined ? patterns : [exact, ...patterns];
}
