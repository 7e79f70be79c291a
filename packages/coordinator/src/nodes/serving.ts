/**
 * The end of a node link that serves: tells the other coordinator which agents are linked here, and
 * runs its calls on them.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Reply } from '@inference-gateway/shared/protocol/asks';
import { Link, requireNoBytes } from '@inference-gateway/shared/protocol/link';
import { MESSAGE_FRAMES } from '@inference-gateway/shared/protocol/messages';
import { decodeFromCalling, NODE_LINK } from '@inference-gateway/shared/protocol/node-messages';
import type {
  FromCalling,
  FromServing,
  NodeMessage,
} from '@inference-gateway/shared/protocol/node-messages';
import type { OpenSocket } from '@inference-gateway/shared/protocol/socket';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type { ProviderRecord } from '../links/provider-record.js';
import { refusal } from '../links/asks.js';
import { Offers } from './offers.js';
import type { OffersParts } from './offers.js';
import { RelayedCall } from './relayed-call.js';
import type { Relay, RelayedCallParts } from './relayed-call.js';
import { ignoring } from './transport.js';

/** What both ends of `gw-node.v1` know. */
export const NODE_FEATURES: ReadonlySet<string> = new Set([MESSAGE_FRAMES]);

/** Changed slots are told together, once in this time. */
const STATE_GAP_MS = 25;

interface ServingParts extends Omit<RelayedCallParts, 'onSlots' | 'free'>, OffersParts {
  /** Name and version of this coordinator. */
  readonly self: { readonly node: string; readonly version: string };
  /** Name of the other one. */
  readonly peer: string;
  /** A call has come from it. */
  readonly onRelayed: () => void;
  readonly logger: Logger;
}

export class ServingEnd {
  readonly link: Link<FromCalling, FromServing, RelayedCall>;
  readonly #parts: ServingParts;
  readonly #offers: Offers;
  /** Slots that calls of the other coordinator have taken, by provider and service. */
  readonly #taken = new Map<string, Map<string, number>>();
  readonly #changed = new Set<ProviderRecord>();
  /** By provider: what was told last. */
  readonly #told = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  readonly #stopWatching: () => void;

  constructor(opened: OpenSocket, parts: ServingParts) {
    this.#parts = parts;
    const { peer, logger, registry, self } = parts;
    this.#offers = new Offers(parts, (offer) => this.link.send(offer));
    this.link = new Link(opened, {
      highWaterBytes: NODE_LINK.highWaterBytes,
      timing: NODE_LINK,
      decode: decodeFromCalling,
      message: (message, bytes) => this.#message(message, bytes),
      unknownStream: () => {},
      violated: (reason) => logger.warn({ peer, reason }, 'node broke the protocol'),
      malformed: ignoring({ logger, peer }, (stream, tag) => {
        if (tag === 'RELAY') this.link.send({ t: 'REJECT', stream, reason: 'no_model' });
        else this.link.workOf(stream)?.cancel('CALLER_GONE');
      }),
      failed: (err) => {
        logger.error({ err, peer }, 'node link failed');
        this.link.close(CLOSE.internalError, 'internal error');
      },
      silent: (silentMs) => logger.warn({ peer, silentMs }, 'node link is dead'),
      closed: () => this.#closed(),
    });
    this.link.peerFeatures = NODE_FEATURES;
    this.link.send({ t: 'HELLO', ...self });
    this.#stopWatching = registry.watchOwn({
      linked: (record) => this.#linked(record),
      touched: (record) => this.#touch(record),
      unlinked: (providerId, linkId) => {
        this.#taken.delete(providerId);
        this.#told.delete(providerId);
        this.link.send({ t: 'UNLINKED', provider_id: providerId, link_id: linkId });
      },
    });
  }

  #message(message: FromCalling, bytes: Uint8Array): void {
    if (message.t !== 'RELAY') requireNoBytes(message, bytes);
    const { registry } = this.#parts;
    switch (message.t) {
      case 'WELCOME':
        return;
      case 'RELAY':
        this.#parts.onRelayed();
        this.link.open(message.stream, (stream) => this.#relayed(message, stream));
        if (bytes.length > 0) this.link.workOf(message.stream)?.receive(bytes);
        return;
      case 'RESET':
        return this.link.workOf(message.stream)?.cancel(message.code);
      case 'WANT':
        return this.#offers.wanted(message);
      case 'UNWANT':
        return this.#offers.unwanted(message.want);
      case 'RELAY_ASK':
        return this.#ask(message);
      case 'PROBE':
        return void this.#probe(message);
      case 'END_LINK': {
        const { provider_id: id, link_id: linkId, why } = message;
        if (why === 'superseded') registry.ownRecord(id, linkId)?.ownLink?.end(why);
        else if (why === 'kicked') registry.kick(id);
        else registry.refuse(id, why);
      }
    }
  }

  #relayed(relay: Relay, stream: RelayedCall['stream']): RelayedCall {
    const onSlots = ({ provider_id: id, service_id: service }: Relay, change: number): void => {
      const ofProvider = this.#taken.get(id) ?? new Map<string, number>();
      ofProvider.set(service, (ofProvider.get(service) ?? 0) + change);
      this.#taken.set(id, ofProvider);
    };
    const free = relay.want === undefined ? null : this.#offers.taken(relay.want);
    return new RelayedCall(relay, stream, { ...this.#parts, onSlots, free });
  }

  /** The other coordinator knows its member; whose the provider is, this one checks itself. */
  #ask({ ask, provider_id: id, link_id: linkId, ...asked }: NodeMessage<'RELAY_ASK'>): void {
    const reply = (told: Reply): void => this.link.send({ ...told, t: 'REPLY', ask });
    const record = this.#parts.registry.ownRecord(id, linkId);
    const { topic, args, by, member_id: memberId } = asked;
    if (record === null || record.ownerId !== memberId) {
      return reply(refusal('link_lost', 'the agent is not linked here any more'));
    }
    const outcome = record.question({ topic, args, by, memberId }, reply);
    if (outcome !== 'asked') reply(refusal(outcome, 'the agent takes no questions now'));
    return undefined;
  }

  async #probe({ seq, provider_id: id, link_id: linkId }: NodeMessage<'PROBE'>): Promise<void> {
    const link = this.#parts.registry.ownRecord(id, linkId)?.ownLink ?? null;
    this.link.send({ t: 'PROBED', seq, alive: link !== null && (await link.isAlive()) });
  }

  #linked(record: ProviderRecord): void {
    const { ownLink: link } = record;
    const state = this.#stateOf(record);
    if (link === null || state === null) return;
    this.link.send({
      t: 'LINKED',
      ...state,
      owner_id: record.ownerId,
      owner_name: record.ownerName,
      name: record.name,
      created_at: record.createdAt,
      epoch: link.epoch,
      connected_at: link.connectedAt,
      agent_version: link.agentVersion,
      instance_id: link.instanceId,
      answers: link.answers,
      host: link.host,
      services: [...record.services],
    });
  }

  #touch(record: ProviderRecord): void {
    this.#changed.add(record);
    this.#timer ??= setTimeout(() => this.#tellStates(), STATE_GAP_MS);
  }

  #tellStates(): void {
    this.#timer = null;
    const states = [...this.#changed].flatMap((record) => {
      const state = this.#stateOf(record);
      if (state === null) return [];
      const text = JSON.stringify(state);
      if (this.#told.get(record.id) === text) return [];
      this.#told.set(record.id, text);
      return state;
    });
    this.#changed.clear();
    for (let from = 0; from < states.length; from += STATES_A_MESSAGE) {
      this.link.send({ t: 'STATE', states: states.slice(from, from + STATES_A_MESSAGE) });
    }
  }

  /** Null if its link has ended. */
  #stateOf(record: ProviderRecord): NodeMessage<'STATE'>['states'][number] | null {
    const { ownLink: link } = record;
    if (link === null) return null;
    const own = this.#taken.get(record.id);
    const others: { service_id: string; slots: number }[] = [];
    const listed = new Set(record.services.map(({ service_id: id }) => id));
    for (const [id, busy] of record.slots.busyByService) {
      // Of an earlier list of the agent, which the others do not have.
      if (!listed.has(id)) continue;
      const slots = busy - (own?.get(id) ?? 0);
      if (slots > 0) others.push({ service_id: id, slots });
    }
    const { id: linkId, isLeaving, busy, cards } = link;
    const accepts = isLeaving ? 'none' : link.accepts;
    return { provider_id: record.id, link_id: linkId, accepts, busy, others, cards: [...cards] };
  }

  #closed(): void {
    this.#stopWatching();
    this.#offers.close();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** A message of them stays far below the longest one. */
const STATES_A_MESSAGE = 64;
