import { median } from './statistics.js';

/** One number per round for each subject and metric; reports use the median. */
export class Samples {
  readonly #values: Map<string, Map<string, number[]>>;

  /** The subjects in the order in which they are shown. */
  constructor(subjects: readonly string[]) {
    this.#values = new Map(subjects.map((name) => [name, new Map()]));
  }

  add(subject: string, metric: string, value: number): void {
    const metrics = this.#values.get(subject) ?? new Map<string, number[]>();
    metrics.set(metric, [...(metrics.get(metric) ?? []), value]);
    this.#values.set(subject, metrics);
  }

  /** NaN if it was not measured. */
  median(subject: string, metric: string): number {
    return median(this.#values.get(subject)?.get(metric) ?? []);
  }

  get subjects(): string[] {
    return [...this.#values.keys()];
  }

  toJSON(): Record<string, Record<string, number[]>> {
    const subjects = [...this.#values].map(([name, metrics]) => [
      name,
      Object.fromEntries(metrics),
    ]);
    return Object.fromEntries(subjects) as Record<string, Record<string, number[]>>;
  }
}
