/** A TCP proxy that can be cut, or can silently discard all bytes. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export class Cable {
  readonly #pairs: [Socket, Socket][] = [];
  port = 0;
  #swallows = false;

  /** From now on no byte arrives at either end, and neither end is told. */
  swallow(): void {
    this.#swallows = true;
    for (const [near, far] of this.#pairs) {
      near.unpipe(far).resume();
      far.unpipe(near).resume();
    }
  }

  /** Resets every connection. */
  cut(): void {
    for (const socket of this.#pairs.splice(0).flat()) socket.resetAndDestroy();
  }

  /** New connections get through again; swallowed connections stay dead. */
  mend(): void {
    this.#swallows = false;
  }

  async listen(targetPort: number): Promise<this> {
    const server = createServer((near) => {
      if (this.#swallows) {
        near.on('error', () => {}).resume();
        return;
      }
      const far = connect(targetPort, '127.0.0.1');
      this.#pairs.push([near, far]);
      near.on('error', () => far.destroy()).pipe(far);
      far.on('error', () => near.destroy()).pipe(near);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    this.port = (server.address() as AddressInfo).port;
    onTestFinished(() => {
      this.cut();
      server.close();
    });
    return this;
  }
}
