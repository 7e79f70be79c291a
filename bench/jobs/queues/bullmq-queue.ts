/** BullMQ: a queue on Redis. What survives a power cut is for the server's configuration to say. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { JobQueue } from './queue.js';
import { PAYLOAD } from './queue.js';

const CONCURRENCY = 64;
/** Concurrent submissions. */
const SUBMITTERS = 256;
const ANSWER_TIMEOUT_MS = 1_000;

/** As much of BullMQ as is used here. */
export interface BullMq {
  readonly Queue: new (name: string, options: object) => Queue;
  readonly Worker: new (name: string, processor: () => Promise<void>, options: object) => Worker;
}

interface Queue {
  add(name: string, data: object): Promise<unknown>;
  obliterate(options: { force: boolean }): Promise<void>;
  close(): Promise<void>;
}

interface Worker {
  on(event: 'completed', listener: () => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  run(): Promise<void>;
  close(): Promise<void>;
}

export function openBullMqQueue({ Queue, Worker }: BullMq, redis: string): JobQueue {
  const name = `gateway-bench-${process.pid}-${Date.now()}`;
  const { hostname, port } = new URL(redis);
  const connection = { host: hostname, port: Number(port) };
  const queue = new Queue(name, { connection });
  return {
    add: async (jobs) => {
      let left = jobs;
      const submitter = async (): Promise<void> => {
        while (left-- > 0) await queue.add('bench', PAYLOAD);
      };
      await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
    },
    run: async (jobs) => {
      const options = { connection, concurrency: CONCURRENCY, autorun: false };
      const worker = new Worker(name, () => Promise.resolve(), options);
      await completed(worker, jobs);
      await worker.close();
    },
    close: async () => {
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}

function completed(worker: Worker, jobs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = jobs;
    worker.on('error', reject);
    worker.on('completed', () => {
      left -= 1;
      if (left === 0) resolve();
    });
    worker.run().catch(reject);
  });
}

/**
 * What the server does before it answers, in words; null if no Redis answers. BullMQ itself
 * would try for ever.
 */
export async function redisDurability(redis: string): Promise<string | null> {
  const { hostname, port } = new URL(redis);
  const socket = connect({ host: hostname, port: Number(port) });
  const late = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const ask = async (command: string): Promise<string> => {
    socket.write(`${command}\r\n`);
    const [answer] = (await once(socket, 'data', { signal: late })) as [Buffer];
    return answer.toString('latin1');
  };
  try {
    await once(socket, 'connect', { signal: late });
    if (!(await ask('PING')).startsWith('+PONG')) return null;
    const config = await ask('CONFIG GET append*');
    const settings = ['appendonly', 'appendfsync'].map((name) => {
      return `${name} ${new RegExp(`${name}\\s+\\$\\d+\\s+(\\S+)`).exec(config)?.[1] ?? 'unknown'}`;
    });
    return settings.join(', ');
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}
