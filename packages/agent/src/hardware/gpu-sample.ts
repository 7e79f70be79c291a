/** What the graphics cards do at one moment; what is not known is null, never a guess. */

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
  /** The same array as before where only the processes are news. */
  readonly cards: readonly CardLoad[];
  /** Null where the system does not tell (Windows' WDDM, Apple). */
  readonly processes: readonly GpuProcess[] | null;
}

/** Samples the cards again and again, about three times a second, until it is closed. */
export interface GpuWatch {
  /** Null until the first sample, and when the last one is too old to believe. */
  readonly latest: GpuSample | null;
  /** Returns how to stop it. */
  onSample(listener: (sample: GpuSample) => void): () => void;
  close(): void;
}
