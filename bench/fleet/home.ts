/**
 * One simulated home: speaks the real protocol over a real socket, comes back when its link ends as
 * an agent does, and leaves now and then where its plan says so.
 */
import {
  CONNECT_PATH,
  PROTOCOL_VERSION,
  SOCKET_OPTIONS,
  SUBPROTOCOL,
} from '@inference-gateway/shared/protocol/version';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import { WebSocket } from 'ws';
import { Card } from './card.js';
import type { Tongue } from './card.js';
import { HomeWork } from './home-work.js';
import type { WorkCounts } from './home-work.js';
import { HomeLink } from './home-link.js';
import type { LinkHost } from './home-link.js';
import { SERVICE_ID, servicesOf } from './home-plan.js';
import type { HomePlan } from './home-plan.js';
import type { HomeStream } from './home-stream.js';
import { Random } from './random.js';
import { UpLine } from './up-line.js';

const HANDSHAKE_TIMEOUT_MS = 10_000;
const BASE_MS = 500;
const MAX_MS = 30_000;
const MOST_DOUBLINGS = 16;
/** A link this old ends the series of failures. */
const HEALTHY_MS = 60_000;

/** How a home leaves: its line drops, it sleeps, or it is switched off and forgets its claims. */
const LEAVINGS = ['drop', 'sleep', 'restart'] as const;

export interface HomeParts {
  readonly plan: HomePlan;
  readonly token: string;
  /** Of the coordinator. */
  readonly origin: string;
  readonly random: Random;
  readonly tongue: Tongue;
  readonly counts: WorkCounts;
  /** A link was welcomed, or has ended with this code; 1006 where none came about. */
  readonly onLink: (change: 'up' | number) => void;
}

export class Home implements LinkHost {
  readonly line: UpLine;
  readonly #parts: HomeParts;
  readonly #work: HomeWork;
  #socket: WebSocket | null = null;
  #isOnline = false;
  #isAway = true;
  #isSettled = false;
  #restarts = 0;
  #failures = 0;
  #dialedAt = 0;
  #next: NodeJS.Timeout | undefined;
  #leaving: NodeJS.Timeout | undefined;

  constructor(parts: HomeParts) {
    const { plan, random, tongue, counts } = parts;
    this.#parts = parts;
    this.#work = new HomeWork(plan, new Card(plan.card, random, tongue), counts);
    this.line = new UpLine(plan.upBytesPerSecond);
  }

  get plan(): HomePlan {
    return this.#parts.plan;
  }

  get isOnline(): boolean {
    return this.#isOnline;
  }

  /** Dials at once, as after a wake-up; nothing happens where it is awake. */
  wake(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    clearTimeout(this.#next);
    this.#leaveLater();
    // A socket that is still closing comes first; its end dials anew.
    if (this.#socket === null) this.#dial();
  }

  /** The line is cut: the home comes back of its own accord. */
  drop(): void {
    this.#socket?.terminate();
  }

  /** Gone until it is woken. What it computes goes on meanwhile. */
  sleep(): void {
    this.#isAway = true;
    clearTimeout(this.#next);
    clearTimeout(this.#leaving);
    this.drop();
  }

  /** A new process, which knows nothing of what the old one had under way. */
  restart(): void {
    this.#work.forget();
    this.#restarts += 1;
    this.drop();
  }

  /** It leaves no more of its own accord; where it is away, it dials at once. */
  settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#leaving);
    if (this.#socket !== null && !this.#isAway) return;
    this.#isAway = true;
    this.wake();
  }

  hello(): Message<'HELLO'> {
    return {
      t: 'HELLO',
      proto: PROTOCOL_VERSION,
      agent_version: '0.0.0-simulated',
      features: [],
      instance_id: `${this.plan.name}-${this.#restarts}`,
      host: { os: 'linux', arch: 'x64', gpus: [] },
      services_rev: 1,
      services: servicesOf(this.plan),
      resume: this.#work.offers(),
    };
  }

  heartbeat(seq: number): Message<'HEARTBEAT'> {
    const slots = [{ service_id: SERVICE_ID, ...this.#work.slots }];
    return { t: 'HEARTBEAT', seq, slots, claims: this.#work.claims(), accepts: 'all' };
  }

  welcomed({ resume }: Message<'WELCOME'>, streamOf: (id: number) => HomeStream): void {
    this.#work.resume(resume, streamOf);
    this.#isOnline = true;
    this.#parts.onLink('up');
  }

  opened(open: Message<'OPEN'>, stream: HomeStream): void {
    this.#work.open(open, stream);
  }

  acknowledged(claimId: string): void {
    this.#work.acknowledged(claimId);
  }

  lost(claimIds: readonly string[]): void {
    this.#work.lost(claimIds);
  }

  /** The link has ended, or none came about. */
  ended({ code, retryAfterMs }: { readonly code: number; readonly retryAfterMs: number }): void {
    this.#socket = null;
    this.#isOnline = false;
    this.#parts.onLink(code);
    if (this.#isAway) return;
    const waitMs = retryAfterMs + this.#backOff();
    this.#next = setTimeout(() => this.#dial(), waitMs);
  }

  #dial(): void {
    this.#dialedAt = performance.now();
    const url = `${this.#parts.origin.replace(/^http/, 'ws')}${CONNECT_PATH}`;
    const socket = new WebSocket(url, SUBPROTOCOL, {
      ...SOCKET_OPTIONS,
      headers: { authorization: `Bearer ${this.#parts.token}` },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      followRedirects: false,
    });
    this.#socket = socket;
    let isLinked = false;
    let retryAfterMs = 0;
    // Its close follows, which is the one place that tells of an end.
    socket.on('error', () => {});
    socket.once('unexpected-response', (_, { headers }) => {
      retryAfterMs = (Number(headers['retry-after']) || 0) * 1_000;
      socket.terminate();
    });
    socket.once('upgrade', ({ socket: stream }) => {
      // In this turn: a listener attached later would miss the first frame.
      socket.once('open', () => {
        isLinked = true;
        void new HomeLink(socket, stream, this);
      });
    });
    socket.once('close', (code) => {
      if (!isLinked) this.ended({ code, retryAfterMs });
    });
  }

  /** Full jitter, as `docs/protocol.md` has it. */
  #backOff(): number {
    if (performance.now() - this.#dialedAt >= HEALTHY_MS) this.#failures = 0;
    const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, MOST_DOUBLINGS);
    return this.#parts.random.next() * ceiling;
  }

  #leaveLater(): void {
    const { leaves } = this.plan;
    if (leaves === null || this.#isSettled) return;
    const { random } = this.#parts;
    this.#leaving = setTimeout(() => {
      this.#leave(random.pick(LEAVINGS), random.wait(leaves.awayMs));
    }, random.wait(leaves.everyMs));
  }

  #leave(how: (typeof LEAVINGS)[number], awayMs: number): void {
    if (how === 'sleep') {
      this.sleep();
      this.#next = setTimeout(() => this.wake(), awayMs);
      return;
    }
    this.#leaveLater();
    if (how === 'drop') this.drop();
    else this.restart();
  }
}
