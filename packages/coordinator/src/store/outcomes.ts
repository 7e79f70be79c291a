/** Outcomes that several operations of the store share. */

export type Created<T> = { readonly kind: 'created'; readonly value: T } | NameTaken;

/** There are already `count` of them, as many as the `cap` allows. */
export interface CapReached {
  readonly kind: 'full';
  readonly count: number;
}

export interface NameTaken {
  readonly kind: 'taken';
  /** Which unique field is taken. */
  readonly field: 'email' | 'name';
}
