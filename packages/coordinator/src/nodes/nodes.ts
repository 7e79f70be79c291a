/**
 * The coordinators of one database. Each reports to the database that it runs, learns there of the
 * others, and dials them to offer its agents; so two of them have a link in each direction. A
 * coordinator that is alone has none.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { decodeFromServing, NODE_LINK } from '@inference-gateway/shared/protocol/node-messages';
import type { NodeMessage } from '@inference-gateway/shared/protocol/node-messages';
import type { OpenSocket } from '@inference-gateway/shared/protocol/socket';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { nodeNameOf } from '../config/config.js';
import type { Config } from '../config/config.js';
import { programVersion } from '../own-files.js';
import type { Reservations } from '../core/usage/quotas.js';
import type { Budget } from '../core/usage/budget.js';
import type { JobHint } from '../core/jobs/hint.js';
import type { StandIns } from '../core/routing/links.js';
import type { Registry } from '../links/registry.js';
import { NODE_REPORT_MS, NODE_SILENT_MS } from '../store/port.js';
import type { NodeKey, NodeRow, NodeStore } from '../store/port.js';
import { CallingEnd } from './calling.js';
import { ServingEnd } from './serving.js';
import { dialNode, listenForNodes } from './transport.js';
import type { NodeServer } from './transport.js';

/** Others learn of a new key with their next report. */
const KEY_KNOWN_MS = 2 * NODE_REPORT_MS;

/** Of the average number of agents: with more, some move, this part of them with each report. */
const FAIR_SHARE = 1.25;
const MOVED_AT_ONCE = 0.02;

/** Changes of jobs are told together, once in this time. */
const HINT_GAP_MS = 10;

interface NodesParts {
  readonly self: {
    readonly name: string;
    /** Where others reach it; null: they do not. */
    readonly url: string | null;
    readonly listen: { readonly host: string | undefined; readonly port: number } | null;
    readonly version: string;
  };
  readonly store: NodeStore;
  readonly registry: Registry;
  readonly relay: StandIns;
  readonly budget: Budget;
  readonly quotas: Reservations;
  /** False: what this coordinator knows of sharing may be out of date. */
  readonly isCurrent: () => boolean;
  /** An agent's time to accept work. */
  readonly acceptMs: number;
  /** From another coordinator. */
  readonly onHint: (hint: JobHint) => void;
  /** An administrator wants it to serve nobody any more, or again. */
  readonly onDraining: (draining: boolean) => void;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
}

export class Nodes {
  readonly #parts: NodesParts;
  #server: NodeServer | null = null;
  #rows: readonly NodeRow[] = [];
  #keys: readonly NodeKey[] = [];
  /** Links by the name of the other end: this one has dialed, or that one. */
  readonly #serving = new Map<string, ServingEnd>();
  readonly #calling = new Map<string, CallingEnd>();
  readonly #dialing = new Set<string>();
  /** Why the last dial failed, by name: each reason is logged once. */
  readonly #faults = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #reporting: Promise<void> | null = null;
  readonly #relayed = { in: 0, out: 0 };
  #isDraining = false;
  #isStopping = false;
  #isClosed = false;
  readonly #hints = new Hints((hint) => {
    for (const { link } of this.#serving.values()) link.send({ t: 'HINT', ...hint });
  });

  constructor(parts: NodesParts) {
    this.#parts = parts;
  }

  /**
   * Reports this coordinator. Throws a `CommandError` `conflict` if another one runs, and one of
   * the two cannot be reached by others.
   */
  async join(): Promise<void> {
    const { self, store, now } = this.#parts;
    await waitForRoom(this.#parts);
    await this.#report(true);
    const rival = rivalOf(self, this.#rows);
    if (rival === null || rival.name > self.name) return;
    // Two that start at once both saw nobody.
    await store.leaveNode(now());
    throw unreachable(self, rival);
  }

  /** Listens for other coordinators, and dials them. */
  async start(): Promise<void> {
    const { self, logger } = this.#parts;
    const { listen } = self;
    if (listen !== null) {
      const onLink = (opened: ServerSocket): void => this.#greet(opened);
      this.#server = await listenForNodes({ listen, keys: () => this.#keys, onLink, logger });
    }
    void this.#reportSafely();
    this.#timer = setInterval(() => void this.#reportSafely(), NODE_REPORT_MS);
  }

  /** An administrator wants it to serve nobody any more. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** The others that run, as of the last report, and whether links to and from them are open. */
  get linked(): ReadonlyMap<string, boolean> {
    const others = this.#rows.filter(({ name, isAlive }) => isAlive && name !== this.name);
    return new Map(
      others.map(({ name }) => [name, this.#serving.has(name) && this.#calling.has(name)]),
    );
  }

  /** Calls since the start: sent to agents of others, and received for agents here. */
  get relayed(): { readonly in: number; readonly out: number } {
    return this.#relayed;
  }

  get name(): string {
    return this.#parts.self.name;
  }

  /** Tells the others what they would find out by polling. */
  hint(hint: JobHint): void {
    if (this.#serving.size > 0) this.#hints.add(hint);
  }

  /** Takes no more calls of others; resolves when those that run have ended. */
  async drain(): Promise<void> {
    this.#isStopping = true;
    const ends = [...this.#serving.values()];
    while (ends.some(({ link }) => link.size > 0)) await sleep(DRAIN_LOOK_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#hints.close();
    await this.#reporting;
    const { store, now, logger } = this.#parts;
    await store.leaveNode(now()).catch((err: unknown) => {
      logger.warn({ err }, 'the others learn in a moment that this coordinator has stopped');
    });
    const links = [...this.#serving.values(), ...this.#calling.values()].map(({ link }) => link);
    for (const link of links) link.close(CLOSE.restart, 'the coordinator stops');
    await this.#server?.close();
  }

  async #reportSafely(): Promise<void> {
    if (this.#isClosed || this.#reporting !== null) return;
    const { logger } = this.#parts;
    this.#reporting = this.#report(false).catch((err: unknown) => {
      logger.warn({ err }, 'the other coordinators cannot be told that this one runs');
    });
    await this.#reporting;
    this.#reporting = null;
  }

  async #report(isNew: boolean): Promise<void> {
    const { store, registry, self, now, onDraining } = this.#parts;
    const report = { url: self.url, version: self.version, agents: registry.ownLinks, isNew };
    const { nodes, keys } = await store.reportNode(report, randomBytes(KEY_BYTES), now());
    this.#rows = nodes;
    this.#keys = keys;
    // Nothing is linked yet.
    if (isNew) return;
    const own = nodes.find(({ name }) => name === self.name);
    if (own !== undefined && own.draining !== this.#isDraining) {
      this.#isDraining = own.draining;
      onDraining(own.draining);
    }
    if (self.url === null) return;
    this.#balance(nodes);
    for (const row of nodes) {
      if (row.isAlive && row.name !== self.name && row.url !== null) void this.#dial(row, row.url);
    }
  }

  /** Asks some agents to move if it has more than its share. The front decides where they go. */
  #balance(nodes: readonly NodeRow[]): void {
    const { registry, self } = this.#parts;
    // One that was killed counts as running for seconds, but its link has ended.
    const serving = nodes.filter(({ name, draining }) => {
      return !draining && (name === self.name || this.#serving.has(name));
    });
    if (serving.length < 2 || this.#isDraining) return;
    const agents = serving.reduce((sum, node) => sum + node.agents, 0);
    const most = Math.ceil((agents / serving.length) * FAIR_SHARE) + 1;
    const surplus = registry.ownLinks - most;
    if (surplus <= 0) return;
    const atOnce = Math.ceil(registry.ownLinks * MOVED_AT_ONCE);
    registry.moveSome(Math.min(surplus, atOnce));
  }

  async #dial({ name }: NodeRow, url: string): Promise<void> {
    if (this.#serving.has(name) || this.#dialing.has(name) || this.#isClosed) return;
    const key = this.#keys.find(({ ageMs }) => ageMs >= KEY_KNOWN_MS) ?? this.#keys.at(-1);
    if (key === undefined) return;
    this.#dialing.add(name);
    try {
      const opened = await dialNode(url, key, (reason) => this.#failed(name, url, reason));
      if (opened !== null) this.#serve(opened, name);
    } catch (error) {
      // Its row has a URL that this version cannot read.
      this.#failed(name, url, (error as Error).message);
    } finally {
      this.#dialing.delete(name);
    }
  }

  #failed(name: string, url: string, reason: string): void {
    if (this.#faults.get(name) === reason) return;
    this.#faults.set(name, reason);
    this.#parts.logger.warn({ peer: name, url, reason }, 'a coordinator cannot be reached');
  }

  #serve(opened: OpenSocket, peer: string): void {
    const { self, logger, registry, relay, quotas, budget, now } = this.#parts;
    const takesCalls = (): boolean => !this.#isStopping && this.#parts.isCurrent();
    if (this.#isClosed) return opened.socket.terminate();
    this.#faults.delete(peer);
    const node = { node: self.name, version: self.version };
    const onRelayed = (): void => void (this.#relayed.in += 1);
    const parts = { registry, relay, quotas, budget, takesCalls, now, logger, onRelayed };
    const end = new ServingEnd(opened, { ...parts, self: node, peer });
    this.#serving.set(peer, end);
    logger.info({ peer }, 'linked to a coordinator');
    void end.link.closed.then(({ code }) => {
      if (this.#serving.get(peer) === end) this.#serving.delete(peer);
      logger.info({ peer, code }, 'link to a coordinator ended');
    });
  }

  /** Waits for HELLO, and makes its link the only one from that coordinator. */
  #greet(opened: ServerSocket): void {
    const { socket } = opened;
    const { self, registry, acceptMs, onHint, logger } = this.#parts;
    socket.on('error', (error) => logger.warn({ reason: error.message }, 'node link error'));
    const timer = setTimeout(() => socket.terminate(), NODE_LINK.helloTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
    // In this turn of the event loop: the agents follow at once.
    socket.once('message', (data, isBinary) => {
      clearTimeout(timer);
      const hello = isBinary ? null : decodeFromServing((data as Buffer).toString());
      const told = hello?.kind === 'message' && hello.message.t === 'HELLO' ? hello.message : null;
      if (told === null || this.#isClosed) return socket.terminate();
      const { node } = told;
      const onRelayed = (): void => void (this.#relayed.out += 1);
      const parts = { registry, node, acceptMs, onHint, logger, onRelayed };
      const end = new CallingEnd(opened, parts);
      this.#calling.get(node)?.link.close(CLOSE.superseded, 'a newer link took over');
      this.#calling.set(node, end);
      end.link.send({ t: 'WELCOME', node: self.name, version: self.version });
      void end.link.closed.then(() => {
        if (this.#calling.get(node) === end) this.#calling.delete(node);
      });
      return undefined;
    });
  }
}

/** Null on SQLite, where there is one coordinator. */
export function openNodes(
  config: Config,
  parts: Omit<NodesParts, 'self' | 'acceptMs'>,
): Nodes | null {
  if (config.databaseUrl === null) return null;
  return new Nodes({ ...parts, self: selfOf(config), acceptMs: config.acceptMs });
}

function selfOf(config: Pick<Config, 'nodeName' | 'nodeUrl' | 'nodeListen'>): NodesParts['self'] {
  const { nodeUrl: url, nodeListen } = config;
  const self = { name: nodeNameOf(config), url, version: programVersion() };
  if (url === null) return { ...self, listen: null };
  const [, host, port = new URL(url).port] = /^(.*):(\d+)$/.exec(nodeListen ?? '') ?? [];
  return {
    ...self,
    listen: { host: host?.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || 443 },
  };
}

type ServerSocket = OpenSocket & { readonly socket: WebSocket };

const KEY_BYTES = 32;

/** Another one may have been killed a moment ago: it counts as running until it is silent. */
async function waitForRoom({ store, self, now }: NodesParts): Promise<void> {
  const tries = Math.ceil((NODE_SILENT_MS + NODE_REPORT_MS) / LOOK_MS);
  for (let i = 1; ; i++) {
    const rival = rivalOf(self, await store.listNodes(now()));
    if (rival === null) return;
    if (i === tries) throw unreachable(self, rival);
    await sleep(LOOK_MS);
  }
}

const LOOK_MS = 500;
const DRAIN_LOOK_MS = 50;

/** A coordinator that runs, if one of the two cannot be reached by others. */
function rivalOf(self: NodesParts['self'], rows: readonly NodeRow[]): NodeRow | null {
  const others = rows.filter(({ isAlive, name }) => isAlive && name !== self.name);
  return others.find(({ url }) => url === null || self.url === null) ?? null;
}

function unreachable(self: NodesParts['self'], { name }: NodeRow): CommandError {
  const message =
    `the coordinator '${name}' uses this database, too, and ` +
    (self.url === null ? 'this one has no GATEWAY_NODE_URL' : 'that one has no GATEWAY_NODE_URL') +
    ': set it for each, so that they reach each other, or stop the other one.';
  return new CommandError(EXIT.conflict, message);
}

/** Hints on their way to the other coordinators. */
class Hints {
  readonly #send: (hint: Omit<NodeMessage<'HINT'>, 't'>) => void;
  #next = noHint();
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (hint: Omit<NodeMessage<'HINT'>, 't'>) => void) {
    this.#send = send;
  }

  add({ moved, ...hint }: JobHint): void {
    const next = this.#next;
    if (moved === null) next.moved = null;
    else if (moved !== undefined) next.moved?.add(moved);
    next.queued ||= hint.queued ?? false;
    if (hint.endedJob !== undefined) next.ended.push(hint.endedJob);
    if (hint.endedInBatch !== undefined) next.endedInBatches.push(hint.endedInBatch);
    if (hint.canceledClaim !== undefined) next.canceled.push(hint.canceledClaim);
    this.#timer ??= setTimeout(() => this.#flush(), HINT_GAP_MS);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #flush(): void {
    const { moved, queued, ended, endedInBatches, canceled } = this.#next;
    const { maxHints } = NODE_LINK;
    this.#timer = null;
    this.#next = noHint();
    this.#send({
      moved: moved === null || moved.size > maxHints ? null : [...moved],
      queued,
      // Those who wait for others find out by polling.
      ended_jobs: ended.slice(0, maxHints),
      ended_in_batches: endedInBatches.slice(0, maxHints),
      canceled_claims: canceled.slice(0, maxHints),
    });
  }
}

interface Gathered {
  moved: Set<string> | null;
  queued: boolean;
  readonly ended: string[];
  readonly endedInBatches: string[];
  readonly canceled: string[];
}

function noHint(): Gathered {
  return { moved: new Set(), queued: false, ended: [], endedInBatches: [], canceled: [] };
}
