/** One way to learn what the cards do, again and again. */
import type { GpuProcess, GpuSample } from './gpu-sample.js';

export interface Sampler {
  close(): void;
}

export type Report = (sample: GpuSample) => void;

/**
 * Whoever takes the card must be noticed within 2 s: processes are told at most every second, and
 * the judgement waits for two samples.
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

/** Null for what is no number of 0 or more: `[N/A]`, `-`, an empty cell. */
export function readNumber(cell: string | undefined): number | null {
  return cell !== undefined && /^\d{1,15}(\.\d{1,9})?$/.test(cell) ? Number(cell) : null;
}
