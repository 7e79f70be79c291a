/** pg-boss: a queue on PostgreSQL, which takes many jobs at once and ends each with its result. */
import type { JobQueue, QueueLoad } from '../jobs/queues/queue.js';
import { addEach } from '../jobs/queues/queue.js';

const NAME = 'bench';
const BATCH = 64;
const CONNECTIONS = 10;

/** As much of pg-boss as is used here. */
export interface PgBossModule {
  readonly default: new (options: object) => PgBoss;
}

interface PgBoss {
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<string | null>;
  fetch(name: string, options: { batchSize: number }): Promise<readonly { id: string }[]>;
  complete(name: string, id: string, data: object): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
}

export async function openPgBossQueue(
  { default: Boss }: PgBossModule,
  connectionString: string,
  load: QueueLoad,
): Promise<JobQueue> {
  const boss = new Boss({ connectionString, max: CONNECTIONS, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue(NAME);
  const finish = ({ id }: { id: string }) => boss.complete(NAME, id, load.result);
  return {
    add: (jobs) => addEach(jobs, load, () => boss.send(NAME, load.payload)),
    // While some are finished, the next are taken, as the gateway does.
    run: async (jobs) => {
      let finished = 0;
      let taken: readonly { id: string }[] = [];
      while (finished < jobs) {
        const [next] = await Promise.all([
          boss.fetch(NAME, { batchSize: BATCH }),
          ...taken.map(finish),
        ]);
        finished += taken.length;
        taken = next;
      }
    },
    close: () => boss.stop({ graceful: false }),
  };
}
