/** How an operation of the store can end, where several end in the same ways. */

export type Created<T> = { readonly kind: 'created'; readonly value: T } | NameTaken;

/** There are `count` of them already, as many as the `cap` of what was to be created allows. */
export interface CapReached {
  readonly kind: 'full';
  readonly count: number;
}

export interface NameTaken {
  readonly kind: 'taken';
  /** Which unique field is taken. */
  readonly field: 'email' | 'name';
}
