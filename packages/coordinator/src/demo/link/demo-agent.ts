/** A machine of the demo as the coordinator knows machines: by its WebSocket. */
import { randomId } from '@inference-gateway/shared/ids';
import {
  CONNECT_PATH,
  SOCKET_OPTIONS,
  SUBPROTOCOL,
} from '@inference-gateway/shared/protocol/version';
import { WebSocket } from 'ws';
import { Random, seedOf } from '../random.js';
import type { SceneMachine } from '../scene.js';
import { DemoLink } from './demo-link.js';

/** After a link that ended, for instance because an administrator ended it. */
const REDIAL_MS = 3_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const UNKNOWN_TOKEN = 401;

export class DemoAgent {
  readonly #origin: string;
  readonly #scene: SceneMachine;
  readonly #instanceId = randomId();
  readonly #random: Random;
  #socket: WebSocket;
  #redial: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** Dials at once; `origin` is the coordinator's. */
  constructor(origin: string, scene: SceneMachine) {
    this.#origin = origin;
    this.#scene = scene;
    this.#random = new Random(seedOf(scene.machine.name));
    this.#socket = this.#dial();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#redial);
    this.#socket.terminate();
  }

  #dial(): WebSocket {
    const url = `${this.#origin.replace(/^http/, 'ws')}${CONNECT_PATH}`;
    const socket = new WebSocket(url, SUBPROTOCOL, {
      ...SOCKET_OPTIONS,
      headers: { authorization: `Bearer ${this.#scene.token}` },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      followRedirects: false,
    });
    // Its close follows, which is the one place that tells of an end.
    socket.on('error', () => {});
    socket.once('unexpected-response', (_, { statusCode }) => {
      // Somebody has removed the machine: nothing would let it in again.
      if (statusCode === UNKNOWN_TOKEN) this.stop();
      else socket.terminate();
    });
    socket.once('upgrade', ({ socket: stream }) => {
      // In this turn: a listener attached later would miss the first frame.
      socket.once('open', () => {
        const [instanceId, random] = [this.#instanceId, this.#random];
        void new DemoLink(socket, stream, { machine: this.#scene.machine, instanceId, random });
      });
    });
    socket.once('close', () => this.#dialLater());
    return socket;
  }

  #dialLater(): void {
    if (this.#isStopped) return;
    this.#redial = setTimeout(() => {
      this.#socket = this.#dial();
    }, REDIAL_MS);
  }
}
