/**
 * A TCP proxy that can go dark in one direction or in both, like a line whose router has died:
 * nothing arrives, and neither end is told, not even that the other end has hung up. Bytes that
 * were sent meanwhile arrive when the line is back, as TCP would send them again.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export type Way = 'to the coordinator' | 'to the agent' | 'both ways';

type Direction = Exclude<Way, 'both ways'>;

export class BlackHole {
  port = 0;
  readonly #sockets = new Set<Socket>();
  readonly #dark = new Set<Direction>();
  /** Actions to carry out, in order, when the line is back. */
  readonly #held: (() => void)[] = [];
  #delayMs = 0;

  async listen(targetPort: number): Promise<this> {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      this.#watch(near);
      this.#pass(null, () => this.#join(near, targetPort));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    this.port = (server.address() as AddressInfo).port;
    onTestFinished(() => {
      this.cut();
      server.close();
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  goDark(way: Way): void {
    for (const direction of ['to the coordinator', 'to the agent'] as const) {
      if (way === direction || way === 'both ways') this.#dark.add(direction);
    }
  }

  /** From now on everything arrives this much later. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  heal(): void {
    this.#dark.clear();
    for (const act of this.#held.splice(0)) act();
  }

  /** Resets every connection; bytes that were sent in the dark are lost. */
  cut(): void {
    this.#held.splice(0);
    for (const socket of this.#sockets) socket.on('error', () => {}).resetAndDestroy();
    this.#sockets.clear();
  }

  /** Connects to the target: for a connection made in the dark, once the line is back. */
  #join(near: Socket, targetPort: number): void {
    if (near.destroyed) return;
    const far = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    this.#watch(far);
    this.#relay(near, far, 'to the coordinator');
    this.#relay(far, near, 'to the agent');
  }

  #relay(from: Socket, to: Socket, direction: Direction): void {
    from.on('data', (bytes: Buffer) => this.#pass(direction, () => to.write(bytes)));
    from.on('end', () => this.#pass(direction, () => to.end()));
    from.on('close', (isBroken) =>
      this.#pass(direction, () => {
        if (isBroken) to.resetAndDestroy();
        else to.end();
      }),
    );
  }

  /** Null means both directions: to open a connection takes both. */
  #pass(direction: Direction | null, act: () => void): void {
    const isDark = direction === null ? this.#dark.size > 0 : this.#dark.has(direction);
    if (isDark) this.#held.push(act);
    else if (this.#delayMs > 0) setTimeout(act, this.#delayMs);
    else act();
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }
}
