import type { Target } from '../load/job.js';

/** One way from the load generator to the mock. */
export interface Subject extends Target {
  readonly name: string;
  /** The processes whose CPU time counts, by their name in the table. */
  readonly pids: Readonly<Record<string, number>>;
  /** Where a home's own program on the way answers `/readyz`. */
  readonly home?: string;
  /** Somebody else's proxy. */
  readonly isPeer: boolean;
}

/** What every subject is started with. */
export interface Surroundings {
  /** The mock's origin. */
  readonly mock: string;
  /** A fresh folder for data and logs. */
  readonly folder: string;
  /** Node's own flags for the programs that are measured. */
  readonly nodeFlags: readonly string[];
}
