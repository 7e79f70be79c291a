/**
 * `/api/live`: a WebSocket per tab of the dashboard, which only signals that something may have
 * changed. The page then polls, so that a lost signal costs only the time to its next poll.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { ConsoleSessions, LoggedIn, Visit } from '../accounts/browser-sessions.js';

export const LIVE_PATH = '/api/live';

/** Close codes of a tab's socket: after the last it may reconnect only with another session. */
export const LIVE_CLOSE = { restart: 1012, spoke: 1008, loggedOut: 4001 } as const;

const HINTS = {
  jobs: JSON.stringify({ topic: 'jobs' }),
  queue: JSON.stringify({ topic: 'queue' }),
  providers: JSON.stringify({ topic: 'providers' }),
  pulls: JSON.stringify({ topic: 'pulls' }),
} as const;

export const LIVE_LIMITS = {
  tabs: 2_000,
  tabsOfMember: 50,
  /** Shortest time between two signals about a member's own jobs, and about their own models. */
  jobsGapMs: 500,
  /**
   * The same for signals to all tabs, which a busy gateway always has: no more often than a page
   * without signals would poll.
   */
  everybodyGapMs: 2_000,
  /** Interval of pings; a tab without a pong for this long is closed. */
  lookMs: 30_000,
  silentMs: 45_000,
  /** Time within which a tab is told that its session has ended. */
  checkSessionMs: 60_000,
  /** Unsent bytes of a tab that does not read. */
  maxUnsentBytes: 4_096,
};

/** A tab sends nothing; the largest control frame has 125 bytes. */
const SOCKET_OPTIONS = {
  perMessageDeflate: false,
  maxPayload: 125,
  closeTimeout: 500,
  clientTracking: false,
};

interface LiveParts {
  readonly sessions: Pick<ConsoleSessions, 'find'>;
  readonly ownOrigins: () => readonly string[];
  /** How many proxies' `X-Forwarded-For` to believe. */
  readonly trustProxy: number;
  readonly logger: Logger;
  readonly limits?: Partial<typeof LIVE_LIMITS>;
}

interface Tab {
  readonly socket: WebSocket;
  readonly memberId: string;
  readonly sessionId: string;
  readonly visit: Visit;
  /** Monotonic ms. */
  heardAt: number;
  checkedAt: number;
}

export class LiveHints {
  readonly #parts: LiveParts;
  readonly #limits: typeof LIVE_LIMITS;
  readonly #server = new WebSocketServer({ ...SOCKET_OPTIONS, noServer: true });
  /** By member; members without a tab are missing. */
  readonly #tabs = new Map<string, Set<Tab>>();
  readonly #looking: NodeJS.Timeout;
  readonly #pulses: Readonly<Record<keyof typeof HINTS, Pulse>>;
  /** Members with a tab whose jobs have changed since the last signal. */
  readonly #moved = new Set<string>();
  /** Members with a tab whose models have changed, or a pull of theirs. */
  readonly #pulling = new Set<string>();
  #count = 0;
  #isClosing = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#limits = { ...LIVE_LIMITS, ...parts.limits };
    const { lookMs, jobsGapMs, everybodyGapMs } = this.#limits;
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
    this.#pulses = {
      jobs: new Pulse(jobsGapMs, () => this.#tellSome(this.#moved, HINTS.jobs)),
      queue: new Pulse(everybodyGapMs, () => this.#tellAll(HINTS.queue)),
      providers: new Pulse(everybodyGapMs, () => this.#tellAll(HINTS.providers)),
      pulls: new Pulse(jobsGapMs, () => this.#tellSome(this.#pulling, HINTS.pulls)),
    };
  }

  /** The `upgrade` listener of the HTTP server, for this path. */
  readonly upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    stream.on('error', () => stream.destroy());
    const visit = visitOf(request, this.#parts.trustProxy);
    this.#admit(request, visit)
      .then((loggedIn) => {
        // In the same turn as the opening, so that no event can occur between them.
        this.#requireRoom(loggedIn.member.id);
        this.#server.handleUpgrade(request, stream, head, (socket) => {
          this.#open(socket, loggedIn, visit);
        });
      })
      .catch((error: unknown) => refuseUpgrade(stream, this.#toApiError(error)));
  };

  /** Slots or providers have changed. */
  readonly capacityChanged = (): void => {
    if (this.#count === 0) return;
    this.#pulses.providers.mark();
    this.#pulses.queue.mark();
  };

  /** A job of the member was created, started or ended; null: the queue was paused or resumed. */
  readonly jobsMoved = (memberId: string | null): void => {
    if (this.#count === 0) return;
    this.#pulses.queue.mark();
    if (memberId === null || !this.#tabs.has(memberId)) return;
    this.#moved.add(memberId);
    this.#pulses.jobs.mark();
  };

  /** Something happens with models of the member's own machines. */
  readonly modelsMoved = (memberId: string): void => {
    if (!this.#tabs.has(memberId)) return;
    this.#pulling.add(memberId);
    this.#pulses.pulls.mark();
  };

  /** Accepts no tab from now on, and closes all. */
  close(): void {
    this.#isClosing = true;
    clearInterval(this.#looking);
    for (const pulse of Object.values(this.#pulses)) pulse.stop();
    for (const tab of this.#all()) tab.socket.close(LIVE_CLOSE.restart, 'restarting');
  }

  async #admit(request: IncomingMessage, visit: Visit): Promise<LoggedIn> {
    if (this.#isClosing) throw new ApiError('shutting_down', 'The gateway is shutting down.');
    if (!isOwnPage(request, this.#parts.ownOrigins())) throw foreignPage();
    const loggedIn = await this.#parts.sessions.find(visit);
    if (loggedIn === null) {
      throw new ApiError('not_logged_in', 'You are not logged in, or no longer. Log in again.');
    }
    return loggedIn;
  }

  #requireRoom(memberId: string): void {
    const { tabs, tabsOfMember } = this.#limits;
    if (this.#isClosing) throw new ApiError('shutting_down', 'The gateway is shutting down.');
    const own = this.#tabs.get(memberId)?.size ?? 0;
    if (own < tabsOfMember && this.#count < tabs) return;
    const whose = own < tabsOfMember ? 'of everybody' : 'of yours';
    const message = `Too many tabs ${whose} are open. Close some; this one looks by itself.`;
    throw new ApiError('rate_limit_exceeded', message, { retryAfterS: 60 });
  }

  #toApiError(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    this.#parts.logger.error({ err: error }, 'a tab cannot be let in');
    return new ApiError('storage_unavailable', 'The database cannot be read now. Try again.');
  }

  #open(socket: WebSocket, { member, session }: LoggedIn, visit: Visit): void {
    const now = performance.now();
    const [memberId, sessionId] = [member.id, session.id];
    const tab: Tab = { socket, memberId, sessionId, visit, heardAt: now, checkedAt: now };
    const tabs = this.#tabs.get(memberId) ?? new Set();
    this.#tabs.set(memberId, tabs.add(tab));
    this.#count += 1;
    socket.on('error', () => socket.terminate());
    socket.on('pong', () => {
      tab.heardAt = performance.now();
    });
    socket.once('message', () => socket.close(LIVE_CLOSE.spoke, 'nothing is to be said here'));
    socket.once('close', () => {
      tabs.delete(tab);
      if (tabs.size === 0) this.#tabs.delete(memberId);
      this.#count -= 1;
    });
  }

  #tellAll(hint: string): void {
    for (const tab of this.#all()) this.#tell(tab, hint);
  }

  #tellSome(members: Set<string>, hint: string): void {
    for (const memberId of members) {
      for (const tab of this.#tabs.get(memberId) ?? []) this.#tell(tab, hint);
    }
    members.clear();
  }

  #tell({ socket }: Tab, hint: string): void {
    if (socket.bufferedAmount > this.#limits.maxUnsentBytes) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(hint);
  }

  #look(): void {
    const now = performance.now();
    const due = new Map<string, Tab[]>();
    for (const tab of this.#all()) {
      if (now - tab.heardAt > this.#limits.silentMs) tab.socket.terminate();
      else if (tab.socket.readyState === tab.socket.OPEN) tab.socket.ping();
      if (now - tab.checkedAt < this.#limits.checkSessionMs) continue;
      tab.checkedAt = now;
      due.set(tab.sessionId, [...(due.get(tab.sessionId) ?? []), tab]);
    }
    for (const tabs of due.values()) void this.#check(tabs);
  }

  /** All tabs of one browser: its session is looked up once. */
  async #check(tabs: readonly Tab[]): Promise<void> {
    const [first] = tabs;
    if (first === undefined) return;
    try {
      if ((await this.#parts.sessions.find(first.visit)) !== null) return;
    } catch (err) {
      this.#parts.logger.warn({ err }, 'sessions of open tabs cannot be checked now');
      return;
    }
    for (const { socket } of tabs) socket.close(LIVE_CLOSE.loggedOut, 'logged out');
  }

  *#all(): Generator<Tab> {
    for (const tabs of this.#tabs.values()) yield* tabs;
  }
}

/**
 * By the browser's own headers. A page that was opened under another name of this machine is ours,
 * too: it has the cookie only if it logged in under that name.
 */
function isOwnPage({ headers }: IncomingMessage, ownOrigins: readonly string[]): boolean {
  const { origin = '', host } = headers;
  if (ownOrigins.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function foreignPage(): ApiError {
  const message = 'Only pages of the gateway itself may listen here. Open its dashboard.';
  return new ApiError('foreign_origin', message);
}

/** The client's address, as elsewhere in HTTP. */
function visitOf({ headers, socket }: IncomingMessage, trustProxy: number): Visit {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(/\s*,\s*/);
  const [address = ''] = trustProxy > 0 ? forwarded.slice(-trustProxy) : [];
  return { cookie: headers.cookie ?? '', address: address || (socket.remoteAddress ?? '') };
}

/** Events within this time, such as the claims of one round, cause one signal. */
const SOON_MS = 25;

/** Throttles signals: soon after the first event, and then at most once per interval. */
class Pulse {
  readonly #gapMs: number;
  readonly #beat: () => void;
  #timer: NodeJS.Timeout | null = null;
  #beatAt = -Infinity;

  constructor(gapMs: number, beat: () => void) {
    this.#gapMs = gapMs;
    this.#beat = beat;
  }

  /** Nearly free while a signal is pending: slots change all the time. */
  readonly mark = (): void => {
    if (this.#timer !== null) return;
    const waitMs = Math.max(SOON_MS, this.#beatAt + this.#gapMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#beatAt = performance.now();
      this.#beat();
    }, waitMs).unref();
  };

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** Answers a refused upgrade with an HTTP error like any other. */
function refuseUpgrade(stream: Duplex, error: ApiError): void {
  const { status, body, retryAfterS } = error;
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(retryAfterS === undefined ? [] : [`Retry-After: ${Math.ceil(retryAfterS)}`]),
    'Connection: close',
  ];
  // HTTP timeouts do not apply to an upgraded socket: a client could keep its half open for ever.
  stream.once('finish', () => stream.destroy());
  stream.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
