/**
 * The end of a node link at which calls begin: shows the registry the other coordinator's agents,
 * and sends it calls for them, as a coordinator does to an agent.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { Link, requireNoBytes } from '@inference-gateway/shared/protocol/link';
import type { AgentHost, CardReading } from '@inference-gateway/shared/protocol/messages';
import { decodeFromServing, NODE_LINK } from '@inference-gateway/shared/protocol/node-messages';
import type {
  FromCalling,
  FromServing,
  NodeMessage,
} from '@inference-gateway/shared/protocol/node-messages';
import type { OpenSocket } from '@inference-gateway/shared/protocol/socket';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type { JobHint } from '../core/jobs/hint.js';
import type {
  Exchange,
  ExchangeHandler,
  OpenRequest,
  OwnerQuestion,
  ReplyHandler,
  Wanted,
} from '../core/routing/links.js';
import { describeWork } from '../links/agent-link.js';
import { AgentStream } from '../links/agent-stream.js';
import type { StreamHost, StreamMessage } from '../links/agent-stream.js';
import { Asks } from '../links/asks.js';
import type { LinkEnd, ProviderLink } from '../links/provider-link.js';
import type { Registry } from '../links/registry.js';
import { NO_SLOTS } from '../links/slot-counts.js';
import type { SlotUse } from '../links/slot-counts.js';
import type { Holder } from '../links/wants.js';
import { NODE_FEATURES } from './serving.js';
import { ignoring } from './transport.js';

interface CallingParts {
  readonly registry: Registry;
  /** Name of the other coordinator. */
  readonly node: string;
  /** An agent's time to accept work. */
  readonly acceptMs: number;
  readonly onHint: (hint: JobHint) => void;
  /** A call was sent to it. */
  readonly onRelayed: () => void;
  readonly logger: Logger;
}

export class CallingEnd implements Holder {
  readonly node: string;
  readonly link: Link<FromServing, FromCalling, AgentStream>;
  readonly acceptMs: number;
  readonly registry: Registry;
  readonly #onHint: CallingParts['onHint'];
  readonly #onRelayed: CallingParts['onRelayed'];
  /** By provider. */
  readonly #mirrored = new Map<string, RelayedLink>();
  readonly #stopTelling: () => void;
  /** Of the owners of all its agents. */
  readonly asks = new Asks(NODE_LINK.maxAsks);
  readonly #probes = new Map<number, (alive: boolean) => void>();
  #lastStream = 0;
  #lastProbe = 0;

  /** After HELLO. */
  constructor(opened: OpenSocket, parts: CallingParts) {
    const { registry, node, acceptMs, onHint, onRelayed, logger } = parts;
    this.registry = registry;
    this.node = node;
    this.acceptMs = acceptMs + NODE_LINK.acceptMarginMs;
    this.#onHint = onHint;
    this.#onRelayed = onRelayed;
    this.link = new Link(opened, {
      highWaterBytes: NODE_LINK.highWaterBytes,
      timing: NODE_LINK,
      decode: decodeFromServing,
      message: (message, bytes) => this.#message(message, bytes),
      // Late: final messages of the two ends can cross.
      unknownStream: () => {},
      violated: (reason) => logger.warn({ peer: node, reason }, 'node broke the protocol'),
      malformed: ignoring({ logger, peer: node }, (stream) => this.#endUnread(stream)),
      failed: (err) => {
        logger.error({ err, peer: node }, 'node link failed');
        this.link.close(CLOSE.internalError, 'internal error');
      },
      silent: (silentMs) => logger.warn({ peer: node, silentMs }, 'node link is dead'),
      closed: () => this.#closed(),
    });
    this.link.peerFeatures = NODE_FEATURES;
    this.#stopTelling = registry.wants.tell(this);
  }

  wanted(want: number, { caller, serviceType, model, needs, excluded }: Wanted): void {
    const { features, voices, inputs = [] } = needs;
    this.link.send({
      t: 'WANT',
      want,
      member_id: caller.memberId,
      scope: caller.scope,
      service_type: serviceType,
      model,
      needs: { features: [...features], voices: [...voices], inputs: [...inputs] },
      excluded: [...excluded],
    });
  }

  unwanted(want: number): void {
    this.link.send({ t: 'UNWANT', want });
  }

  openStream(start: (stream: AgentStream['stream']) => AgentStream): AgentStream {
    this.#onRelayed();
    return this.link.open(++this.#lastStream, start);
  }

  /** Whether the agent answers a ping, according to the coordinator that holds its link. */
  probe(providerId: string, linkId: string): Promise<boolean> {
    if (!this.link.isOpen) return Promise.resolve(false);
    const seq = ++this.#lastProbe;
    this.link.send({ t: 'PROBE', seq, provider_id: providerId, link_id: linkId });
    return new Promise((resolve) => this.#probes.set(seq, resolve));
  }

  #message(message: FromServing, bytes: Uint8Array): void {
    if (message.t !== 'ANSWER') requireNoBytes(message, bytes);
    switch (message.t) {
      case 'HELLO':
        return;
      case 'LINKED':
        return this.#linked(message);
      case 'STATE':
        for (const state of message.states) this.#state(state);
        return;
      case 'UNLINKED':
        return this.#unlinked(message);
      case 'LOST': {
        const stream = this.link.workOf(message.stream);
        stream?.stream.close();
        stream?.abandon();
        return;
      }
      case 'OFFER': {
        const { want, provider_id: providerId, service_id: serviceId } = message;
        return this.registry.wants.offered({ want, providerId, serviceId }, this);
      }
      case 'PROBED':
        this.#probes.get(message.seq)?.(message.alive);
        this.#probes.delete(message.seq);
        return;
      case 'REPLY':
        return this.asks.replied(message);
      case 'HINT':
        for (const hint of hintsOf(message)) this.#onHint(hint);
        return;
      default:
        this.link.workOf(message.stream)?.told(message satisfies StreamMessage, bytes);
    }
  }

  /** What came of its answer cannot be read. */
  #endUnread(stream: number): void {
    const work = this.link.workOf(stream);
    if (work === undefined) return;
    const message = 'a message of its coordinator cannot be read';
    this.link.send({ t: 'RESET', stream, code: 'INTERNAL' });
    work.told({ t: 'RESET', stream, code: 'INTERNAL', message }, NO_BYTES);
  }

  #linked(told: NodeMessage<'LINKED'>): void {
    const { provider_id: id, link_id: linkId } = told;
    const known = this.#mirrored.get(id);
    const link = known?.id === linkId ? known : new RelayedLink(this, told);
    link.follow(told);
    const provider = {
      id,
      ownerId: told.owner_id,
      ownerName: told.owner_name,
      name: told.name,
      createdAt: told.created_at,
      services: told.services,
      host: told.host,
      // Until the store's facts say more, nobody is served.
      isOwnerDisabled: false,
      approvedAt: null,
      lastSeenAt: null,
      draining: false,
      paused: false,
    };
    if (!this.registry.mirror(link, provider)) return;
    this.#mirrored.set(id, link);
    this.#state(told);
  }

  #state(told: NodeMessage<'STATE'>['states'][number]): void {
    const link = this.#mirrored.get(told.provider_id);
    if (link?.id !== told.link_id) return;
    link.follow(told);
    const taken = told.others.map(({ service_id: id, slots }) => [id, slots] as const);
    this.registry.mirrorState(told.provider_id, link, new Map(taken));
  }

  #unlinked({ provider_id: id, link_id: linkId }: NodeMessage<'UNLINKED'>): void {
    const link = this.#mirrored.get(id);
    if (link?.id !== linkId) return;
    this.#mirrored.delete(id);
    this.registry.mirrorEnded(id, link);
  }

  #closed(): void {
    this.#stopTelling();
    for (const [id, link] of this.#mirrored) this.registry.mirrorEnded(id, link);
    this.#mirrored.clear();
    for (const answer of this.#probes.values()) answer(false);
    this.#probes.clear();
    this.asks.close();
  }
}

function hintsOf(told: NodeMessage<'HINT'>): readonly JobHint[] {
  return [
    ...(told.queued ? [{ queued: true }] : []),
    ...(told.moved ?? [null]).map((moved) => ({ moved })),
    ...told.ended_jobs.map((endedJob) => ({ endedJob })),
    ...told.ended_in_batches.map((endedInBatch) => ({ endedInBatch })),
    ...told.canceled_claims.map((canceledClaim) => ({ canceledClaim })),
  ];
}

/** An agent's link that another coordinator holds. */
class RelayedLink implements ProviderLink, StreamHost {
  readonly node: string;
  readonly id: string;
  readonly epoch: number;
  readonly connectedAt: number;
  readonly agentVersion: string;
  readonly instanceId: string;
  readonly answers: boolean;
  readonly acceptMs: number;
  host: AgentHost;
  cards: readonly CardReading[] = [];
  accepts: ProviderLink['accepts'] = 'none';
  /** Then it accepts nothing, which is told. */
  readonly isLeaving = false;
  busy = 0;
  readonly #end: CallingEnd;
  readonly #providerId: string;

  constructor(end: CallingEnd, told: NodeMessage<'LINKED'>) {
    this.#end = end;
    this.#providerId = told.provider_id;
    this.node = end.node;
    this.acceptMs = end.acceptMs;
    this.id = told.link_id;
    this.epoch = told.epoch;
    this.connectedAt = told.connected_at;
    this.agentVersion = told.agent_version;
    this.instanceId = told.instance_id;
    this.answers = told.answers ?? false;
    this.host = told.host;
  }

  follow(told: NodeMessage<'STATE'>['states'][number] & { readonly host?: AgentHost }): void {
    this.accepts = told.accepts;
    this.busy = told.busy;
    this.cards = told.cards;
    this.host = told.host ?? this.host;
  }

  get isOpen(): boolean {
    return this.#end.link.isOpen;
  }

  open(use: SlotUse, request: OpenRequest, handler: ExchangeHandler): Exchange | null {
    if (!this.isOpen || this.#end.link.size >= NODE_LINK.maxStreams) return null;
    const exchange = this.#end.openStream(
      (stream) => new AgentStream(this, stream, { use, handler }),
    );
    const asks = use.slots === NO_SLOTS;
    if (asks) exchange.slot = 'none';
    const relay = {
      t: 'RELAY',
      stream: exchange.stream.id,
      ...describeWork(request, use.serviceId),
      provider_id: this.#providerId,
      link_id: this.id,
      member_id: request.memberId,
      sequences: request.sequences,
      max_tokens: request.maxTokens ?? null,
      asks,
      ...(use.want !== undefined && { want: use.want }),
    } as const;
    exchange.start(relay, request);
    return exchange;
  }

  ask({ memberId, topic, args, by }: OwnerQuestion, onReply: ReplyHandler): boolean {
    const about = { provider_id: this.#providerId, link_id: this.id, member_id: memberId };
    return this.#end.asks.ask(
      (ask) => this.#end.link.send({ t: 'RELAY_ASK', ask, topic, args, by, ...about }),
      onReply,
    );
  }

  isAlive(): Promise<boolean> {
    return this.#end.probe(this.#providerId, this.id);
  }

  end(why: LinkEnd): void {
    const linkId = why === 'superseded' ? this.id : null;
    this.send({ t: 'END_LINK', provider_id: this.#providerId, link_id: linkId, why });
  }

  send(message: Parameters<StreamHost['send']>[0] | FromCalling): void {
    // The other coordinator has the agent's claims and lists itself.
    if (message.t === 'RESET' || message.t === 'END_LINK') this.#end.link.send(message);
  }

  release(exchange: AgentStream): void {
    if (!exchange.stream.isOpen) return;
    exchange.stream.close();
    if (exchange.slot === 'held') this.#freed(exchange.use);
  }

  unconfirmed(exchange: AgentStream, freesSlot: boolean): void {
    if (freesSlot) this.#freed(exchange.use);
  }

  overrun(): void {
    this.#end.link.close(CLOSE.flowControl, 'more bytes than credit');
  }

  #freed(use: SlotUse): void {
    this.#end.registry.mirrorFreed(this.#providerId, this, use);
  }
}

const NO_BYTES = new Uint8Array(0);
