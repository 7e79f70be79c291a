/** A queue of no-op jobs, as its users drive it. */
export interface JobQueue {
  /** Resolves once every job is as safe as this queue makes it. */
  add(jobs: number): Promise<void>;
  /** Claims and finishes all of them. */
  run(jobs: number): Promise<void>;
  close(): Promise<void>;
}

/** What every queue is given. */
export interface QueueLoad {
  readonly payload: object;
  readonly result: object;
  /** The callers whose jobs they are, in turn. */
  readonly members: number;
  /** Concurrent submissions. */
  readonly submitters: number;
}

export const PAYLOAD = { model: 'bench-model', messages: [{ role: 'user', content: 'A fox.' }] };
export const SMALL: QueueLoad = {
  payload: PAYLOAD,
  result: { choices: [] },
  members: 1,
  submitters: 256,
};

/** Submits so many jobs, some at a time. */
export async function addEach(
  jobs: number,
  { submitters }: QueueLoad,
  add: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const submitter = async (): Promise<void> => {
    while (next < jobs) await add(next++);
  };
  await Promise.all(Array.from({ length: submitters }, submitter));
}
