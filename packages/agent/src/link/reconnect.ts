/** Keeps one link open: dials, waits for its end, backs off, dials again. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Reply } from '@inference-gateway/shared/protocol/asks';
import { AgentEnd } from '@inference-gateway/shared/protocol/link';
import type {
  AgentEndStream,
  AgentWork,
  LinkedAgent,
} from '@inference-gateway/shared/protocol/link';
import type {
  AdvertisedService,
  AgentHost,
  CardReading,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import { AGENT_VERSION } from '../own-files.js';
import type { Answers } from '../work/answers.js';
import type { HeldClaims } from '../work/held-claims.js';
import { IncomingWork } from '../work/incoming-work.js';
import { JobStream } from '../work/job-stream.js';
import type { WorkRunner } from '../work/runner.js';
import { dial } from './dial.js';
import type { LinkEnd } from './dial.js';

interface LinkParts {
  /** New for every process. */
  readonly instanceId: string;
  readonly runner: WorkRunner;
  readonly claims: HeldClaims;
  /** Of questions beside the work. */
  readonly answers: Answers;
  readonly services: () => readonly AdvertisedService[];
  readonly host: () => AgentHost;
  /** Current readings of the cards; null if the machine does not report them. */
  readonly cards: () => readonly CardReading[] | null;
  /** Called once per link, when the coordinator has registered this agent. */
  readonly onWelcome: (welcome: Message<'WELCOME'>) => void;
}

interface ConnectionOptions extends LinkParts {
  readonly url: string;
  readonly token: string;
  /** Do not dial again after a link has ended. */
  readonly once: boolean;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
  /** The link has ended, or could not be opened. */
  readonly onLost: (reason: string) => void;
}

export class Connection {
  /**
   * Resolves when the connection has ended for good: with the reason, or null if it was closed
   * here.
   */
  readonly ended: Promise<CommandError | null>;
  readonly #options: ConnectionOptions;
  readonly #agent: LinkedAgent;
  readonly #backoff = new Backoff();
  readonly #stopWatching: () => void;
  #link: AgentEnd | null = null;
  #closing = false;
  #hurry: () => void = () => {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#agent = new ServingAgent(options);
    this.#stopWatching = onWakeUp(() => this.#wokeUp(), options.now);
    this.ended = this.#keepOpen().finally(this.#stopWatching);
  }

  /** The currently open link. */
  get link(): AgentEnd | null {
    return this.#link;
  }

  /** Ends the connection for good. */
  close(code: number, reason: string): void {
    this.#closing = true;
    this.#link?.close(code, reason);
    this.#hurry();
  }

  async #keepOpen(): Promise<CommandError | null> {
    for (;;) {
      const end = await this.#connectOnce();
      if (this.#closing) return null;
      this.#options.onLost(describe(end));
      const fatal = fatalError(end) ?? (this.#options.once ? onceError(end) : null);
      if (fatal !== null) return fatal;
      const waitMs = this.#backoff.next(askedPause(end));
      const retryInMs = Math.round(waitMs);
      this.#options.logger.warn({ reason: describe(end), retryInMs }, 'not connected');
      await this.#pause(waitMs);
      if (this.#closing) return null;
    }
  }

  async #connectOnce(): Promise<LinkEnd> {
    const opened = await dial(this.#options.url, this.#options.token);
    if (opened.kind !== 'open') return opened;
    const openedAt = performance.now();
    this.#link = new AgentEnd(opened, this.#agent);
    if (this.#closing) this.#link.close(CLOSE.normal, 'stopping');
    const end = await this.#link.ended;
    this.#backoff.ended(performance.now() - openedAt);
    this.#link = null;
    return end;
  }

  async #pause(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The other end may have dropped the link, or may have a new address. */
  #wokeUp(): void {
    this.#options.logger.info('the clock jumped: was this machine asleep?');
    void this.#link?.verify();
    this.#hurry();
  }
}

// The agent's handlers for one link.

class ServingAgent implements LinkedAgent {
  readonly version = AGENT_VERSION;
  readonly instanceId: string;
  readonly #parts: LinkParts;

  constructor(parts: LinkParts) {
    this.instanceId = parts.instanceId;
    this.#parts = parts;
  }

  served(): Pick<Message<'HELLO'>, 'services' | 'host'> {
    return { services: [...this.#parts.services()], host: this.#parts.host() };
  }

  offers(): Message<'HELLO'>['resume'] {
    return this.#parts.claims.offers();
  }

  heartbeat(): Omit<Message<'HEARTBEAT'>, 't' | 'seq'> {
    const { runner, claims } = this.#parts;
    const cards = this.#parts.cards();
    return {
      slots: runner.slots(),
      claims: claims.claims(),
      accepts: runner.accepts,
      ...(cards !== null && { gpus: [...cards] }),
    };
  }

  welcomed(welcome: Message<'WELCOME'>, end: AgentEnd): void {
    const { runner, claims, onWelcome } = this.#parts;
    claims.resume(welcome.resume, {
      carry: (job, id) => end.carry(id, (stream) => new JobStream(job, stream)),
      refuse: (id) => end.refuse(id),
    });
    // Otherwise the owner would see no load until the first interval is over.
    if (runner.accepts !== 'all' || this.#parts.cards() !== null) end.beat();
    onWelcome(welcome);
  }

  opened(open: Message<'OPEN'>, stream: AgentEndStream): AgentWork {
    const { runner, claims } = this.#parts;
    if (open.kind === 'sync') {
      const work = new IncomingWork(open, stream);
      runner.take(work);
      return work;
    }
    const { job, run } = claims.open(open);
    const work = new JobStream(job, stream);
    runner.take(run);
    return work;
  }

  asked(ask: Message<'ASK'>, reply: (reply: Reply) => void): void {
    this.#parts.answers.asked(ask, reply);
  }

  acknowledged(claimId: string, verdict: Message<'RESULT_ACK'>['verdict']): void {
    this.#parts.claims.acknowledged(claimId, verdict);
  }

  lost(claimIds: readonly string[]): void {
    this.#parts.claims.lost(claimIds);
  }
}

/** A disabled owner may be enabled again; until then the agent retries rarely. */
const DISABLED_RETRY_MS = 300_000;

/** The minimum wait before the next dial; null if none is given. */
function askedPause(end: LinkEnd): number | null {
  if (end.kind === 'unreachable') return null;
  return isDisabled(end) ? (end.retryAfterMs ?? DISABLED_RETRY_MS) : end.retryAfterMs;
}

function isDisabled(end: LinkEnd): boolean {
  if (end.kind === 'refused') return end.status === 403;
  return end.kind === 'closed' && end.code === CLOSE.disabled;
}

function describe(end: LinkEnd): string {
  if (isDisabled(end)) return 'its owner is disabled on the coordinator; ask the admin';
  switch (end.kind) {
    case 'unreachable':
      return end.reason;
    case 'refused':
      return linkFault(end.status, end.location);
    case 'closed':
      return `closed with ${end.code}${end.reason === '' ? '' : `: ${end.reason}`}`;
  }
}

/** A failure that a retry cannot mend. */
function fatalError(end: LinkEnd): CommandError | null {
  if (end.kind === 'refused' && end.status === 401) return unauthorised();
  if (end.kind === 'refused' && end.status === 426) return incompatible();
  if (end.kind !== 'closed') return null;
  if (end.code === CLOSE.tokenRevoked) return unauthorised();
  if (end.code === CLOSE.version) return incompatible();
  if (end.code !== CLOSE.duplicateInstance) return null;
  return new CommandError(
    EXIT.conflict,
    'a second copy of this agent is running elsewhere. Stop one.',
  );
}

function unauthorised(): CommandError {
  const message =
    'the coordinator does not know this agent. Enroll it again with a new join token.';
  return new CommandError(EXIT.notAuthorised, message);
}

function incompatible(): CommandError {
  const message = 'this agent and the coordinator have no protocol version in common. Update both.';
  return new CommandError(EXIT.failure, message);
}

function onceError(end: LinkEnd): CommandError {
  const code = end.kind === 'closed' ? EXIT.failure : EXIT.coordinatorUnreachable;
  return new CommandError(code, `the link ended: ${describe(end)}.`);
}

const BASE_MS = 500;

const MAX_MS = 30_000;

/** A timer of more than 24 days would fire at once, and the agent would dial without pause. */
const MAX_RETRY_AFTER_MS = 600_000;

/** A link this old resets the back-off: its end is a new event, not the next failure. */
const HEALTHY_MS = 60_000;

/** A link this old was used. Of several coordinators, another one may take the next at once. */
const USED_MS = 2_000;

/** Failures that count after it: the wait is up to 4 s. */
const FAILURES_OF_USED = 3;

/**
 * The time of the next dial: full jitter in [0, min(30 s, 0.5 s · 2^n)], so that a thousand agents
 * do not return at once.
 */
export class Backoff {
  #failures = 0;

  /**
   * The wait before the next attempt; `retryAfterMs` is the coordinator's request, if there is one.
   */
  next(retryAfterMs: number | null): number {
    const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) + Math.random() * ceiling;
  }

  /** Reports the lifetime of the link that has just ended. */
  ended(livedMs: number): void {
    if (livedMs >= HEALTHY_MS) this.#failures = 0;
    else if (livedMs >= USED_MS) this.#failures = Math.min(this.#failures, FAILURES_OF_USED);
  }
}

// Detects that the machine slept: a timer of seconds fires much too late.
const TICK_MS = 5_000;

const SLEPT_MS = 15_000;

/** Calls `wokeUp` after a wake-up. Returns a function that stops this. */
export function onWakeUp(wokeUp: () => void, now: () => number): () => void {
  let tickAt = now();
  const timer = setInterval(() => {
    const lateMs = now() - tickAt - TICK_MS;
    tickAt = now();
    if (lateMs > SLEPT_MS) wokeUp();
  }, TICK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

// Explains why the server that answers is not a coordinator, or is behind a proxy that blocks
// links.

/** The answer in place of a link; the coordinator itself sends some of these while it restarts. */
export function linkFault(status: number, location: string | null): string {
  const answered = `the coordinator answered ${status}`;
  if (status >= 300 && status < 400) return redirected(status, location);
  const hint = HINTS[status];
  return hint === undefined ? answered : `${answered}: ${hint}`;
}

/** A captive portal redirects every request to its log-in page. */
function redirected(status: number, location: string | null): string {
  const to = location === null ? '' : ` to ${location.replaceAll(/\p{Cc}/gu, ' ').slice(0, 200)}`;
  return (
    `its address redirects${to} (${status}). Write the address that it ends at, or sign in to ` +
    'the network that this machine is in'
  );
}

const HINTS: Readonly<Record<number, string>> = {
  200: 'something in between does not pass WebSockets on, or it is no coordinator',
  400: 'something in between does not pass WebSockets on',
  404: 'no coordinator is at that address. Write it without /v1',
  407: 'a proxy in between wants a log-in. This agent must reach the coordinator directly',
  502: 'the proxy before it does not reach it',
  504: 'the proxy before it does not reach it',
};
