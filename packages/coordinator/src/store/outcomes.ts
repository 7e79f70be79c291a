/** How an operation of the store can end, where several end in the same ways. */

export type Created<T> = { readonly kind: 'created'; readonly value: T } | NameTaken;

export interface NameTaken {
  readonly kind: 'taken';
  /** Which unique field is taken. */
  readonly field: 'email' | 'name';
}
