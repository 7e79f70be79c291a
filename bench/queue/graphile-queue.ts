/** graphile-worker: a queue on PostgreSQL; a transaction takes each job, another one ends it. */
import type { JobQueue, QueueLoad } from '../jobs/queues/queue.js';
import { addEach } from '../jobs/queues/queue.js';

const TASK = 'bench';
const CONCURRENCY = 64;
const CONNECTIONS = 10;
const POLL_MS = 100;

/** As much of graphile-worker as is used here. */
export interface Graphile {
  readonly Logger: new (factory: () => () => void) => object;
  readonly makeWorkerUtils: (options: object) => Promise<WorkerUtils>;
  readonly run: (options: object) => Promise<Runner>;
}

interface WorkerUtils {
  migrate(): Promise<void>;
  addJob(task: string, payload: object): Promise<unknown>;
  release(): Promise<void>;
}

interface Runner {
  readonly events: { on(event: 'job:complete', listener: () => void): void };
  stop(): Promise<void>;
}

export async function openGraphileQueue(
  { Logger, makeWorkerUtils, run }: Graphile,
  connectionString: string,
  load: QueueLoad,
): Promise<JobQueue> {
  const logger = new Logger(() => () => {});
  const shared = { connectionString, maxPoolSize: CONNECTIONS, logger };
  const utils = await makeWorkerUtils(shared);
  await utils.migrate();
  return {
    add: (jobs) => addEach(jobs, load, () => utils.addJob(TASK, load.payload)),
    run: async (jobs) => {
      const taskList = { [TASK]: () => Promise.resolve() };
      const how = { concurrency: CONCURRENCY, pollInterval: POLL_MS, noHandleSignals: true };
      const runner = await run({ ...shared, ...how, taskList });
      await new Promise<void>((resolve) => {
        let left = jobs;
        runner.events.on('job:complete', () => {
          left -= 1;
          if (left === 0) resolve();
        });
      });
      await runner.stop();
    },
    close: () => utils.release(),
  };
}
