import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Job, JobResult } from './load/job.js';

type Reply<J extends Job> = { result: JobResult<J> } | { error: string };

/** The load generator's process as the bench sees it. */
export class LoadGenerator {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(fileURLToPath(new URL('load-process.js', import.meta.url)));
  }

  async run<J extends Job>(job: J): Promise<JobResult<J>> {
    const reply = await new Promise<Reply<J>>((resolve, reject) => {
      this.#child.once('message', (message) => resolve(message as Reply<J>));
      this.#child.once('exit', () => reject(new Error('the load generator ended')));
      this.#child.send(job);
    });
    this.#child.removeAllListeners('exit');
    if ('error' in reply)
      throw new Error(`${job.kind} load on ${job.target.origin}: ${reply.error}`);
    return reply.result;
  }

  stop(): void {
    this.#child.disconnect();
  }
}
