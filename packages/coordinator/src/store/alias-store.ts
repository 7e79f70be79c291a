/** The part of the store's port for aliases. Names are compared exactly, as the ids of models. */
import type { Alias } from '../core/access/aliases.js';
import type { CapReached } from './outcomes.js';

export interface StoredAlias extends Alias {
  readonly id: string;
  /** Null: the gateway's. */
  readonly memberName: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewAlias extends Alias {
  /** Refused as `full` if its owner has this many. */
  readonly cap: number;
}

export type AliasOutcome =
  | {
      readonly kind: 'set';
      readonly value: StoredAlias;
      /** Its chain before; null if it is new. */
      readonly before: readonly string[] | null;
    }
  /** Aliases do not nest: its chain names another alias of its owner. */
  | { readonly kind: 'names_alias'; readonly alias: string }
  /** The chain of another alias of its owner names it as a model. */
  | { readonly kind: 'named_by'; readonly alias: string }
  | CapReached;

export interface AliasStore {
  /** Creates the alias, or replaces its chain. */
  setAlias(alias: NewAlias, now: number): Promise<AliasOutcome>;
  /** False if it is unknown. A null member: the gateway's. */
  removeAlias(memberId: string | null, name: string): Promise<boolean>;
  /** The gateway's first, then by member; of each in the order of their names. */
  listAliases(): Promise<readonly StoredAlias[]>;
}
