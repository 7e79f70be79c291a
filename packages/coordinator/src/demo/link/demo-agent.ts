/** A machine of the demo as the coordinator knows machines: by its WebSocket. */
import { randomId } from '@inference-gateway/shared/ids';
import {
  CONNECT_PATH,
  SOCKET_OPTIONS,
  SUBPROTOCOL,
  LINK,
  PROTOCOL_VERSION,
} from '@inference-gateway/shared/protocol/version';
import { WebSocket } from 'ws';
import { decodeFrame } from '@inference-gateway/shared/protocol/frames';
import { Liveness } from '@inference-gateway/shared/protocol/liveness';
import { decodeCoordinatorMessage } from '@inference-gateway/shared/protocol/messages';
import type {
  AgentMessage,
  CoordinatorMessage,
  Message,
  CardReading,
} from '@inference-gateway/shared/protocol/messages';
import { socketWire } from '@inference-gateway/shared/protocol/wire';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import type { Duplex } from 'node:stream';
import { programVersion } from '../../program-version.js';
import { Random, seedOf } from '../random.js';
import type { SceneMachine } from '../scene.js';
import type { Call } from '../answers/answer.js';
import { hostOf, servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';
import { DemoStream } from './demo-stream.js';
import type { StreamHost } from './demo-stream.js';

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

// One link of a demo machine, from HELLO to its close: what an agent says, without an agent.

interface LinkParts {
  readonly machine: Machine;
  /** The same for every link of a machine: it is one process. */
  readonly instanceId: string;
  readonly random: Call['random'];
}

class DemoLink implements StreamHost {
  readonly #socket: WebSocket;
  readonly #parts: LinkParts;
  readonly #writer: LinkWriter;
  readonly #streams = new Map<number, DemoStream>();
  readonly #liveness: Liveness;
  #heartbeat: NodeJS.Timeout | undefined;
  #beats = 0;

  /** The socket is open, and nothing was read from it yet. */
  constructor(socket: WebSocket, stream: Duplex, parts: LinkParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#liveness = new Liveness({
      pingMs: LINK.pingMs,
      deadMs: LINK.deadMs,
      ping: () => socket.ping(),
      dead: () => socket.terminate(),
    });
    const wire = socketWire(socket, stream, () => this.#liveness.sent());
    this.#writer = new LinkWriter(wire, LINK.agentHighWaterBytes);
    socket.on('message', (data, isBinary) => this.#received(data as Buffer, isBinary));
    socket.on('ping', () => this.#liveness.heard());
    socket.on('pong', () => this.#liveness.heard());
    socket.once('close', () => this.#closed());
    this.#say(this.#hello());
  }

  get pace(): StreamHost['pace'] {
    const { random, machine } = this.#parts;
    return { random, tokensPerSecond: machine.tokensPerSecond };
  }

  control(frame: string | Uint8Array): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#writer.control(frame);
  }

  ended({ open }: DemoStream): void {
    this.#streams.delete(open.stream);
  }

  /** It brings back nothing of earlier links: what ran on them is run again elsewhere. */
  #hello(): AgentMessage {
    const { machine, instanceId } = this.#parts;
    return {
      t: 'HELLO',
      proto: PROTOCOL_VERSION,
      agent_version: programVersion(),
      features: [],
      instance_id: instanceId,
      host: hostOf(machine),
      services_rev: 1,
      services: servicesOf(machine),
      resume: [],
    };
  }

  #received(data: Buffer, isBinary: boolean): void {
    this.#liveness.heard();
    if (isBinary) return this.#frame(data);
    const decoded = decodeCoordinatorMessage(data.toString());
    if (decoded.kind === 'message') this.#message(decoded.message);
    return undefined;
  }

  #message(message: CoordinatorMessage): void {
    switch (message.t) {
      case 'WELCOME':
        return this.#welcomed(message);
      case 'OPEN':
        return this.#opened(message);
      case 'RESET':
        return this.#streams.get(message.stream)?.cancel();
      case 'HEARTBEAT_OK':
        return this.#lost(new Set(message.lost_claims));
      default:
        return undefined;
    }
  }

  #welcomed({ heartbeat_s: heartbeatS }: Message<'WELCOME'>): void {
    this.#beat();
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatS * 1_000);
  }

  #opened(open: Message<'OPEN'>): void {
    const send = this.#writer.open(open.stream, LINK.windowBytes);
    this.#streams.set(open.stream, new DemoStream(open, send, this));
  }

  /** Keeps the leases of its jobs, and says whether more is welcome. */
  #beat(): void {
    const { machine, random } = this.#parts;
    const running = [...this.#streams.values()].map(({ open }) => open);
    const slots = servicesOf(machine).map(({ service_id: id, slots: all }) => {
      const busy = running.filter((open) => open.service_id === id).length;
      return { service_id: id, busy, free: Math.max(0, all - busy) };
    });
    const claims = running.flatMap(({ claim_id: id }) =>
      id === undefined ? [] : [{ claim_id: id, phase: 'running' as const }],
    );
    const accepts = machine.state === 'paused' ? 'none' : 'all';
    const gpus = cardReadings(machine, new Set(running.map((open) => open.service_id)), random);
    this.#say({ t: 'HEARTBEAT', seq: ++this.#beats, slots, claims, accepts, gpus });
  }

  /** Somebody canceled these jobs, or another machine has them by now. */
  #lost(claimIds: ReadonlySet<string>): void {
    for (const stream of this.#streams.values()) {
      if (claimIds.has(stream.open.claim_id ?? '')) stream.cancel();
    }
  }

  /** Of a stream that has ended here it is late: the last words of the two ends can cross. */
  #frame(bytes: Buffer): void {
    const frame = decodeFrame(bytes);
    if (frame === null) return;
    const stream = this.#streams.get(frame.stream);
    if (frame.kind === 'data') stream?.receive(frame.bytes);
    else stream?.grant(frame.credit);
  }

  #say(message: AgentMessage): void {
    this.control(JSON.stringify(message));
  }

  #closed(): void {
    this.#liveness.stop();
    clearInterval(this.#heartbeat);
    for (const stream of this.#streams.values()) stream.abandon();
  }
}

// What a demo machine's cards would do while it runs this work.

/** `running` are the services that something runs on, by id. */
export function cardReadings(
  machine: Machine,
  running: ReadonlySet<string>,
  random: Random,
): CardReading[] {
  const busy = servicesOf(machine).filter(({ service_id: id }) => running.has(id));
  return machine.gpus.map((gpu, index) => {
    // A service without a group runs on all cards.
    const isBusy = busy.some(({ slot_group: group = `gpu${index}` }) => group === `gpu${index}`);
    const { vramGib } = gpu;
    const figure = (low: number, high: number): number => Math.round(random.between(low, high));
    const shared = {
      use_percent: isBusy ? figure(76, 98) : figure(0, 3),
      memory_used_mib: Math.round((vramGib ?? SHARED_GIB) * MIB_A_GIB * random.between(0.7, 0.74)),
    };
    // Apple's driver tells no more.
    if (vramGib === null) return { ...shared, temperature_c: null, power_watts: null };
    const temperature_c = isBusy ? figure(62, 71) : figure(36, 41);
    return { ...shared, temperature_c, power_watts: isBusy ? figure(240, 285) : figure(17, 26) };
  });
}

const MIB_A_GIB = 1_024;

/** What its models take where the card has no memory of its own. */
const SHARED_GIB = 14;
