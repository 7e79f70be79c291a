/** What the processes of a subject use while it is measured, by their roles. */
import { cpuMs, rssMb } from './process-usage.js';
import type { Samples } from './samples.js';
import type { Subject } from './subjects/subject.js';

export interface CpuSpan {
  readonly samples: Samples;
  readonly subject: Subject;
  readonly before: ReadonlyMap<string, number>;
  readonly metric: string;
  /** The number of units by which the CPU time is divided. */
  readonly per: number;
}

/** One sample a process: `METRIC.ROLE`. */
export function addCpu({ samples, subject, before, metric, per }: CpuSpan): void {
  for (const [role, ms] of usedCpuMs(subject)) {
    samples.add(subject.name, `${metric}.${role}`, (ms - (before.get(role) ?? 0)) / per);
  }
}

export function usedCpuMs(subject: Subject): Map<string, number> {
  return ofEach(subject, cpuMs);
}

export function heldRssMb(subject: Subject): Map<string, number> {
  return ofEach(subject, rssMb);
}

/** The most that each process held from now until the returned function is called. */
export function watchRss(subject: Subject, pollMs: number): () => Map<string, number> {
  const most = new Map<string, number>();
  const look = (): void => {
    for (const [role, mb] of heldRssMb(subject)) most.set(role, Math.max(most.get(role) ?? 0, mb));
  };
  const timer = setInterval(look, pollMs);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

function ofEach(subject: Subject, read: (pid: number) => number): Map<string, number> {
  return new Map(Object.entries(subject.pids).map(([role, pid]) => [role, read(pid)]));
}
