/**
 * plainjob: a queue on SQLite in the caller's own thread. As it ships it sets `synchronous =
 * NORMAL`, with which no commit waits for the disk, and a power cut takes the last ones.
 */
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { join } from 'node:path';
import type { JobQueue } from './queue.js';
import { PAYLOAD } from './queue.js';

const TYPE = 'bench';
const drop = (): void => {};
const SILENT = { error: drop, warn: drop, info: drop, debug: drop };

type Database = ReturnType<typeof openDatabase>;

/** As much of plainjob as is used here. */
export interface Plainjob {
  readonly better: (database: Database) => object;
  readonly defineQueue: (options: { connection: object; logger: object }) => Queue;
  readonly defineWorker: (
    type: string,
    processor: () => void,
    options: { queue: Queue; logger: object; onCompleted: () => void },
  ) => { start(): Promise<void>; stop(): Promise<void> };
}

interface Queue {
  add(type: string, data: unknown): void;
  close(): void;
}

/** `synchronous`: null leaves it as plainjob sets it. */
export function openPlainjobQueue(
  { better, defineQueue, defineWorker }: Plainjob,
  folder: string,
  synchronous: 'FULL' | null,
): JobQueue {
  const database = openDatabase(join(folder, DATABASE_FILE));
  const logger = SILENT;
  const queue = defineQueue({ connection: better(database), logger });
  if (synchronous !== null) database.pragma(`synchronous = ${synchronous}`);
  return {
    add: (jobs) => {
      for (let i = 0; i < jobs; i++) queue.add(TYPE, PAYLOAD);
      return Promise.resolve();
    },
    run: async (jobs) => {
      let left = jobs;
      const onCompleted = (): void => {
        left -= 1;
        if (left === 0) void worker.stop();
      };
      const worker = defineWorker(TYPE, () => {}, { queue, logger, onCompleted });
      await worker.start();
    },
    close: () => Promise.resolve(queue.close()),
  };
}
