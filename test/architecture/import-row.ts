/** What the files of one folder may import. */
export interface Row {
  /** Rows of the same package that may be imported, beside the row itself. */
  readonly may: readonly string[];
  /** The same of types alone: nothing of them is left at run time. */
  readonly types?: readonly string[];
  readonly packages?: readonly string[];
  /** False: no `node:` module either. */
  readonly node?: false;
}
