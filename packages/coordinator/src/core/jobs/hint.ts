/** A change of jobs that a coordinator tells the others, which would find it out by polling. */
export interface JobHint {
  /** The member whose jobs have changed; null: those of all. */
  readonly moved?: string | null;
  /** A job was queued, or may run now. */
  readonly queued?: boolean;
  /** It has ended, and so has one of the batch. */
  readonly endedJob?: string;
  readonly endedInBatch?: string;
  /** It was canceled, and its claim may be held by an agent that is linked elsewhere. */
  readonly canceledClaim?: string;
}
