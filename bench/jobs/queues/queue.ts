/** A queue of no-op jobs, as its users drive it. */
export interface JobQueue {
  /** Resolves once every job is as safe as this queue makes it. */
  add(jobs: number): Promise<void>;
  /** Claims and finishes all of them. */
  run(jobs: number): Promise<void>;
  close(): Promise<void>;
}

/** What every queue is given as a job. */
export const PAYLOAD = { model: 'bench-model', messages: [{ role: 'user', content: 'A fox.' }] };
