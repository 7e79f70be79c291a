/**
 * One simulated home: speaks the real protocol over a real socket, reconnects like an agent when
 * its link ends, and leaves sometimes if its plan says so.
 */
import { dial } from '@inference-gateway/shared/protocol/dial';
import { AgentEnd } from '@inference-gateway/shared/protocol/link';
import type { AgentEndStream, LinkedAgent } from '@inference-gateway/shared/protocol/link';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import { WebSocket } from 'ws';
import { Card } from './card.js';
import type { Tongue } from './card.js';
import { HomeWork } from './home-work.js';
import type { WorkCounts } from './home-work.js';
import { SERVICE_ID, servicesOf } from './home-plan.js';
import type { HomePlan } from './home-plan.js';
import { HomeStream } from './home-stream.js';
import { Random } from './random.js';
import { UpLine } from './up-line.js';

const NO_LINK = 1006;
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
  /** A link was welcomed, or has ended with this code; 1006 if none could be opened. */
  readonly onLink: (change: 'up' | number) => void;
}

export class Home implements LinkedAgent {
  readonly version = '0.0.0-simulated';
  readonly #line: UpLine;
  readonly #parts: HomeParts;
  readonly #work: HomeWork;
  /** Gives up the link, or the dialing; null if there is neither. */
  #cancel: (() => void) | null = null;
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
    this.#line = new UpLine(plan.upBytesPerSecond);
  }

  get plan(): HomePlan {
    return this.#parts.plan;
  }

  get instanceId(): string {
    return `${this.plan.name}-${this.#restarts}`;
  }

  get isOnline(): boolean {
    return this.#isOnline;
  }

  /** Dials immediately, as after a wake-up; no effect if it is awake. */
  wake(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    clearTimeout(this.#next);
    this.#leaveLater();
    // A socket that is still closing comes first; its end dials anew.
    if (this.#cancel === null) void this.#link();
  }

  /** Cuts the line: the home reconnects by itself. */
  drop(): void {
    this.#cancel?.();
  }

  /** Stays away until it is woken. Its computations continue. */
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

  /** It no longer leaves by itself; if it is away, it dials immediately. */
  settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#leaving);
    if (this.#cancel !== null && !this.#isAway) return;
    this.#isAway = true;
    this.wake();
  }

  served(): Pick<Message<'HELLO'>, 'services' | 'host'> {
    return { services: servicesOf(this.plan), host: { os: 'linux', arch: 'x64', gpus: [] } };
  }

  offers(): Message<'HELLO'>['resume'] {
    return this.#work.offers();
  }

  heartbeat(): Omit<Message<'HEARTBEAT'>, 't' | 'seq'> {
    const slots = [{ service_id: SERVICE_ID, ...this.#work.slots }];
    return { slots, claims: this.#work.claims(), accepts: 'all' };
  }

  welcomed({ resume }: Message<'WELCOME'>, end: AgentEnd): void {
    this.#work.resume(resume, {
      carry: (id, start) => end.carry(id, (stream) => start(new HomeStream(stream, this.#line))),
      refuse: (id) => end.refuse(id),
    });
    this.#isOnline = true;
    this.#parts.onLink('up');
  }

  opened(open: Message<'OPEN'>, stream: AgentEndStream): HomeStream {
    const work = new HomeStream(stream, this.#line);
    this.#work.open(open, work);
    return work;
  }

  acknowledged(claimId: string): void {
    this.#work.acknowledged(claimId);
  }

  lost(claimIds: readonly string[]): void {
    this.#work.lost(claimIds);
  }

  /** A home exists to find faults: a message that it does not understand is one. */
  violated(reason: string): never {
    throw new Error(`the coordinator broke the protocol: ${reason}`);
  }

  /** One link, from the dialing to its end, and then the next. */
  async #link(): Promise<void> {
    this.#dialedAt = performance.now();
    const { origin, token } = this.#parts;
    const { dialed, cancel } = dial(WebSocket, { origin, token });
    this.#cancel = cancel;
    const opened = await dialed;
    if (opened.kind === 'open') {
      const { code, retryAfterMs } = await new AgentEnd(opened, this).ended;
      this.#ended(code, retryAfterMs);
    } else this.#ended(NO_LINK, opened.kind === 'refused' ? opened.retryAfterMs : null);
  }

  #ended(code: number, retryAfterMs: number | null): void {
    this.#cancel = null;
    this.#isOnline = false;
    this.#parts.onLink(code);
    if (this.#isAway) return;
    const waitMs = (retryAfterMs ?? 0) + this.#backOff();
    this.#next = setTimeout(() => void this.#link(), waitMs);
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
