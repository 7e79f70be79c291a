/** What is measured on two tables in turn. */
import type { Samples } from '../../samples.js';
import type { Seeded } from './seed.js';

/** What the tables are called in the samples. */
export const FEW = 'few';
export const MANY = 'many';

export interface TableRound {
  readonly samples: Samples;
  readonly rounds: number;
  /** Of each kind, in one round. */
  readonly reads: number;
  readonly claims: number;
  readonly say: (line: string) => void;
  readonly cpuProf: string | null;
}

/** By their names in the samples. */
export type Tables = ReadonlyMap<string, Seeded>;

/** Far apart, so that the next one is hardly in memory. */
export function idAt({ ids }: Seeded, index: number): string {
  return ids[(index * 389 + Math.floor(ids.length / 2)) % ids.length] ?? '';
}
