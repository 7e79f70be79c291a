/** The state of the graphics cards at one moment; unknown values are null, never guessed. */
import type { AgentHost } from '@inference-gateway/shared/protocol/messages';

export interface CardLoad {
  /** 0 to 100. */
  readonly usePercent: number | null;
  readonly memoryUsedMib: number | null;
  readonly temperatureC: number | null;
  readonly powerWatts: number | null;
}

/** A program that uses a card now. */
export interface GpuProcess {
  readonly pid: number;
  /** The program's name, without its path. */
  readonly name: string | null;
  readonly usePercent: number | null;
  readonly memoryMib: number | null;
}

export interface GpuSample {
  /** `performance.now()` at which it was taken. */
  readonly at: number;
  /** The same array as before if only the processes have changed. */
  readonly cards: readonly CardLoad[];
  /** Null if the system does not report them (Windows' WDDM, Apple). */
  readonly processes: readonly GpuProcess[] | null;
}

/** Samples the cards about three times a second, until it is closed. */
export interface GpuWatch {
  /** Null until the first sample, and when the last one is too old. */
  readonly latest: GpuSample | null;
  /** Returns a function that stops this. */
  onSample(listener: (sample: GpuSample) => void): () => void;
  close(): void;
}

// A graphics card in HELLO; unknown values are null, never guessed.
export type Gpu = AgentHost['gpus'][number];

/** Queries one source for the cards of this machine; rejects if it is not available. */
export type GpuSource = () => Promise<readonly Gpu[]>;

// One method to sample the cards repeatedly.

export interface Sampler {
  close(): void;
}

export type Report = (sample: GpuSample) => void;

/**
 * A program that takes the card must be noticed within 2 s: processes are reported at most every
 * second, and the decision needs two samples.
 */
export const SAMPLE_MS = 300;

/** A program that uses several cards counts once. */
export function mergeProcesses(rows: readonly GpuProcess[]): GpuProcess[] {
  const byPid = new Map<number, GpuProcess>();
  for (const row of rows) {
    const known = byPid.get(row.pid);
    byPid.set(row.pid, {
      ...row,
      usePercent: sum(known?.usePercent, row.usePercent),
      memoryMib: sum(known?.memoryMib, row.memoryMib),
    });
  }
  return [...byPid.values()];
}

function sum(one: number | null | undefined, other: number | null): number | null {
  return one === null || one === undefined ? other : one + (other ?? 0);
}

/** Null if it is not a number of 0 or more: `[N/A]`, `-`, an empty cell. */
export function readNumber(cell: string | undefined): number | null {
  return cell !== undefined && /^\d{1,15}(\.\d{1,9})?$/.test(cell) ? Number(cell) : null;
}
