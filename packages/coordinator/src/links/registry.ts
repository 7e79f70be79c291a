/**
 * Which providers are online, what they serve, and who may use them. Supplies the matcher's
 * candidates, and keeps only the newest link of each agent.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type {
  AdminLinks,
  AskOutcome,
  CallReport,
  ClaimKeeper,
  Exchange,
  ExchangeHandler,
  OpenRequest,
  OwnerQuestion,
  ProviderView,
  ReplyHandler,
  Reservation,
  Resumption,
  Links,
  Want,
  Wanted,
} from '../core/routing/links.js';
import type { Candidate, Choice } from '../core/routing/match.js';
import type { Shared } from '../core/access/access.js';
import { AliasIndex, NO_ALIASES } from '../core/access/aliases.js';
import { resolveSharing, shareState } from '../core/access/sharing.js';
import type { ProviderSharing, SharingFacts } from '../core/access/sharing.js';
import type { Reservations } from '../core/usage/quotas.js';
import type { EndedLink, Provider, Store } from '../store/port.js';
import type { AgentLink, LinkEvents, AgentLinkTiming } from './agent-link.js';
import { ModelIndex } from './model-index.js';
import type { ProviderLink } from './provider-link.js';
import { BUSY_PAUSE_MS, ProviderRecord } from './provider-record.js';
import { Refusals } from './refusals.js';
import type { RefusalReason } from './refusals.js';
import { ShareQuotas } from './share-quotas.js';
import { NO_SLOTS, useOf } from './slot-counts.js';
import type { SlotUse } from './slot-counts.js';
import { Wants } from './wants.js';

export interface Attachment {
  readonly timing: AgentLinkTiming;
  readonly claims: ClaimKeeper;
  /** `Registry.time` before its token was looked up. */
  readonly admittedAt: number;
}

type PresenceRecorder = Pick<Store, 'recordServed' | 'endLink'>;

interface RegistryParts {
  readonly store: PresenceRecorder;
  readonly logger: Logger;
  readonly breakerOpenMs: number;
  readonly now: () => number;
  /** What others have used of shares with a quota. */
  readonly quotas: Reservations;
}

export class Registry implements Links, AdminLinks {
  readonly #records = new Map<string, ProviderRecord>();
  readonly #index = new ModelIndex();
  readonly #refusals = new Refusals();
  #sharing: ReadonlyMap<string, ProviderSharing> = new Map();
  readonly #listeners = new Set<() => void>();
  readonly #watchers = new Set<OwnLinkWatcher>();
  readonly #parts: RegistryParts;
  readonly #shareQuotas: ShareQuotas;
  readonly wants = new Wants();
  aliases = NO_ALIASES;
  #isClosing = false;
  /** Agents shall link to other coordinators. */
  isLeaving = false;

  constructor(providers: readonly Provider[], parts: RegistryParts) {
    this.#parts = parts;
    const { quotas } = parts;
    this.#shareQuotas = new ShareQuotas({ quotas, onCounted: () => this.#announce() });
    for (const provider of providers) this.#add(provider);
  }

  /** A counter of refusals: a link admitted at one time may be refused at a later one. */
  get time(): number {
    return this.#refusals.now;
  }

  candidates(serviceType: ServiceType, model: string): readonly Candidate[] {
    return this.#index.candidates(serviceType, model);
  }

  shared(providerId: string): Shared | null {
    const sharing = this.#sharing.get(providerId);
    if (sharing === undefined) return null;
    const { ownerId, closed, shares } = sharing;
    const now = this.#parts.now();
    return { ownerId, closed, shares: shares.map((share) => shareState(share, 0, now)) };
  }

  providers(): readonly ProviderView[] {
    return [...this.#records.values()].map((record) => record.view());
  }

  want(wanted: Wanted): Want {
    return this.wants.add(wanted);
  }

  open(choice: Choice, request: OpenRequest, handler: ExchangeHandler): Exchange | null {
    const record = this.#records.get(choice.providerId);
    const link = record?.link ?? null;
    if (record === undefined || link === null || choice.freeSlots <= 0) return null;
    if (!record.mayServe(choice, request.memberId)) return null;
    // Of another coordinator's link, that one reserves.
    if (link.node === null && !record.reserveShare(choice, request)) return null;
    const use = useOf(choice, 'sync', Math.min(request.sequences, choice.freeSlots));
    const exchange = link.open(use, request, handler);
    if (exchange === null) return null;
    this.#give(record, choice, use);
    return exchange;
  }

  ask(choice: Choice, request: OpenRequest, handler: ExchangeHandler): Exchange | null {
    const record = this.#records.get(choice.providerId);
    const link = record?.link ?? null;
    if (record === undefined || link === null || link.id !== choice.linkId) return null;
    if (!record.mayServe(choice, request.memberId)) return null;
    return link.open(useOf(choice, 'sync', NO_SLOTS), request, handler);
  }

  reserve(choice: Choice): Reservation | null {
    const record = this.#records.get(choice.providerId);
    const link = record?.ownLink ?? null;
    if (record === undefined || link === null || link.id !== choice.linkId) return null;
    if (!record.hasJobSlot(choice.serviceId)) return null;
    const use = useOf(choice, 'job');
    this.#give(record, choice, use);
    const release = (): void => {
      record.report(choice, { kind: 'nothing' });
      if (record.link !== link) return;
      this.#free(record, use);
    };
    const open = (request: OpenRequest, handler: ExchangeHandler): Exchange | null => {
      // Checked again: the caller may have lost access while the claim was written.
      const mayServe = record.mayServe(choice, request.memberId);
      const isAllowed = mayServe && record.reserveShare(choice, request);
      const exchange = isAllowed ? link.open(use, request, handler) : null;
      if (exchange === null) release();
      return exchange;
    };
    return { open, release };
  }

  freeJobSlots(most: number): number {
    const now = performance.now();
    let free = 0;
    for (const record of this.#records.values()) {
      if (free >= most) break;
      free += record.freeJobSlots(now);
    }
    return Math.min(free, most);
  }

  report(choice: Choice, report: CallReport): void {
    this.#records.get(choice.providerId)?.report(choice, report);
    if (report.kind === 'busy') setTimeout(this.#announce, BUSY_PAUSE_MS + 1).unref();
  }

  onCapacity(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Makes the link the provider's current one. The newest link of an agent wins; but while another
   * process holds a link that still answers, a second copy is refused. Rejects if the claims that
   * the agent resumes cannot be looked up.
   */
  async attach(
    link: AgentLink,
    provider: Provider,
    { timing, claims, admittedAt }: Attachment,
  ): Promise<'attached' | 'duplicate' | 'gone'> {
    const refusal = (): RefusalReason | null => this.#refusals.since(provider.id, admittedAt);
    const before = refusal();
    if (before !== null) return refuseLink(link, before);
    const record = this.#records.get(provider.id) ?? this.#add(provider);
    const current = record.link;
    if (current !== null && current.instanceId !== link.instanceId) {
      if (await current.isAlive()) return 'duplicate';
      if (!link.isOpen) return 'gone';
      const meanwhile = refusal();
      if (meanwhile !== null) return refuseLink(link, meanwhile);
    }
    record.arriving = link;
    record.link?.end('superseded');
    const { id, name } = record;
    const linked = { providerId: id, providerName: name, linkId: link.id };
    const { epoch, resumptions } = await claims.resume(linked, link.hello.resume);
    link.epoch = epoch;
    // It closed before any listener existed, or a newer one has come: if attached now, it would
    // stay.
    const isOlder = record.link !== null && record.link.epoch > epoch;
    const isLate = !link.isOpen || record.arriving !== link || isOlder || this.#isClosing;
    if (isLate) return this.#tooLate(link, resumptions);
    record.linked(link);
    for (const one of resumptions) {
      if (one.action !== 'continue') continue;
      const { serviceId, shareId } = one;
      record.take({ serviceId, kind: 'job', shareId, slots: 1 });
    }
    const events = this.#eventsOf(record, link, (held) => claims.renew(linked, held));
    link.welcome({ provider: { id, name }, timing, events, resumptions });
    this.#servesNow(record, link);
    // It was admitted before.
    if (this.isLeaving) link.leave();
    return 'attached';
  }

  kick(providerId: string): boolean {
    const link = this.#records.get(providerId)?.link ?? null;
    link?.end('kicked');
    return link !== null;
  }

  refuse(providerId: string, why: RefusalReason): boolean {
    // Also without a link: one may have been admitted and not have sent HELLO yet.
    this.#refusals.note(providerId, why);
    const { link = null, arriving = null } = this.#records.get(providerId) ?? {};
    for (const one of new Set([link, arriving])) one?.end(why);
    return link !== null;
  }

  /**
   * Applies what the store knows of providers, sharing and aliases from now on. Closes the link of
   * a removed provider for good. A provider that is newer than the facts keeps its state from
   * enrollment: another coordinator may tell of its link before they do.
   */
  follow(facts: SharingFacts): void {
    const before = this.#sharing;
    this.#sharing = resolveSharing(facts);
    this.aliases = new AliasIndex(facts.aliases);
    const isMirrored = (id: string): boolean =>
      (this.#records.get(id)?.link?.node ?? null) !== null;
    for (const id of [...before.keys(), ...this.#records.keys()]) {
      if (this.#sharing.has(id) || (!before.has(id) && isMirrored(id))) continue;
      this.#remove(id);
    }
    for (const provider of facts.providers) {
      const sharing = this.#sharing.get(provider.id);
      this.#records.get(provider.id)?.follow(provider, sharing);
    }
    this.#announce();
  }

  question(providerId: string, asked: OwnerQuestion, onReply: ReplyHandler): AskOutcome {
    return this.#records.get(providerId)?.question(asked, onReply) ?? 'offline';
  }

  // Links that this coordinator holds, for the others.

  /** Those that are open now, and what happens to them from now on. */
  watchOwn(watcher: OwnLinkWatcher): () => void {
    this.#watchers.add(watcher);
    for (const record of this.#records.values()) {
      if (record.ownLink !== null) watcher.linked(record);
    }
    return () => this.#watchers.delete(watcher);
  }

  /** Whether the agents that are linked here shall move to other coordinators. */
  setLeaving(isLeaving: boolean): void {
    this.isLeaving = isLeaving;
    if (isLeaving) this.moveSome(Infinity, true);
  }

  /**
   * Asks up to this many agents to link to another coordinator, those without work first. One that
   * has come a moment ago, or was asked and has come back, is not asked unless it must leave: the
   * shorter its links, the longer it waits before the next.
   */
  moveSome(most: number, isForced = false): void {
    const now = performance.now();
    const links = [...this.#records.values()].flatMap((record) => {
      const { ownLink: link, movedAt } = record;
      if (link === null || link.isLeaving) return [];
      const isSettled = this.#parts.now() - link.connectedAt > SETTLED_MS;
      const mayMove = isSettled && now - movedAt > MOVE_AGAIN_MS;
      return isForced || mayMove ? { record, link } : [];
    });
    links.sort((one, other) => one.link.busy - other.link.busy);
    for (const { record, link } of links.slice(0, most)) {
      record.movedAt = now;
      link.leave();
      this.#touched(record);
    }
    if (links.length > 0) this.#announce();
  }

  /**
   * Takes a slot for a call that another coordinator is about to send; null as in `open`. Returns
   * the function that frees it.
   */
  hold(choice: Choice): (() => void) | null {
    const record = this.ownRecord(choice.providerId, choice.linkId);
    if (record === null || choice.freeSlots <= 0) return null;
    const { link } = record;
    const use = useOf(choice, 'sync');
    record.take(use);
    this.#touched(record);
    let isHeld = true;
    return () => {
      if (isHeld && record.link === link) this.#free(record, use);
      isHeld = false;
    };
  }

  /** Number of links that this coordinator holds. */
  get ownLinks(): number {
    let count = 0;
    for (const { ownLink } of this.#records.values()) if (ownLink !== null) count += 1;
    return count;
  }

  /** The provider whose link this coordinator holds; null if it does not, or not this link. */
  ownRecord(providerId: string, linkId: string | null): ProviderRecord | null {
    const record = this.#records.get(providerId);
    const link = record?.ownLink ?? null;
    if (record === undefined || link === null) return null;
    return linkId === null || link.id === linkId ? record : null;
  }

  // Links that others hold.

  /**
   * Another coordinator holds this link, or its provider serves something else. False if a newer
   * link is known: the given one is not used.
   */
  mirror(link: ProviderLink, provider: Provider): boolean {
    const record = this.#records.get(provider.id) ?? this.#add(provider);
    if (record.link !== null && record.link.epoch > link.epoch) return false;
    if (record.link !== link) {
      record.ownLink?.end('superseded');
      record.linked(link);
    }
    this.#index.serve(record, provider.services);
    this.#announce();
    return true;
  }

  /** What other coordinators than this one have taken of its slots. */
  mirrorState(providerId: string, link: ProviderLink, taken: ReadonlyMap<string, number>): void {
    const record = this.#records.get(providerId);
    if (record?.link !== link) return;
    record.slots.takenElsewhere(taken, record.services);
    this.#announce();
  }

  mirrorFreed(providerId: string, link: ProviderLink, use: SlotUse): void {
    const record = this.#records.get(providerId);
    if (record?.link === link) this.#free(record, use);
  }

  mirrorEnded(providerId: string, link: ProviderLink): void {
    const record = this.#records.get(providerId);
    if (record?.link !== link) return;
    record.unlinked();
    this.#announce();
  }

  /**
   * Tells every agent that the coordinator stops and when to reconnect. Resolves when all links
   * have ended.
   */
  async closeAll(retryAfterMs: number): Promise<void> {
    this.#isClosing = true;
    const links = [...this.#records.values()].flatMap(({ ownLink }) => ownLink ?? []);
    for (const link of links) {
      link.send({ t: 'GOAWAY', retry_after_ms: retryAfterMs, reason: RESTARTING });
      link.close(CLOSE.restart, RESTARTING, 'coordinator_stopped');
    }
    await Promise.all(links.map((link) => link.closed));
  }

  /** The resumed claims stay with their agent, for its next link. */
  #tooLate(link: AgentLink, resumptions: readonly Resumption[]): 'gone' {
    if (this.#isClosing) link.close(CLOSE.restart, RESTARTING);
    else link.end('superseded');
    for (const one of resumptions) {
      if (one.action !== 'discard') one.handler.fail({ kind: 'disconnected' });
    }
    return 'gone';
  }

  #eventsOf(record: ProviderRecord, link: AgentLink, renew: LinkEvents['renew']): LinkEvents {
    const whileCurrent = (act: () => void) => (): void => {
      if (record.link === link) act();
    };
    return {
      servicesChanged: whileCurrent(() => this.#servesNow(record, link)),
      acceptsChanged: whileCurrent(() => {
        this.#touched(record);
        this.#announce();
      }),
      heard: whileCurrent(() => this.#touched(record)),
      slotFreed: (use) => {
        if (record.link === link) this.#free(record, use);
      },
      renew,
      closed: (reason) => {
        if (record.link === link) this.#detach(record, { linkId: link.id, reason });
      },
    };
  }

  #detach(record: ProviderRecord, ended: Omit<EndedLink, 'providerId'>): void {
    record.unlinked();
    for (const watcher of this.#watchers) watcher.unlinked(record.id, ended.linkId);
    const at = this.#parts.now();
    this.#write(record, () => this.#parts.store.endLink({ providerId: record.id, ...ended }, at));
    this.#announce();
  }

  #servesNow(record: ProviderRecord, { id: linkId, services, host }: AgentLink): void {
    this.#index.serve(record, services);
    for (const watcher of this.#watchers) watcher.linked(record);
    const newest = { providerId: record.id, linkId };
    const { store, now } = this.#parts;
    const at = now();
    this.#write(record, () => store.recordServed(newest, { services, host }, at));
    this.#announce();
  }

  /**
   * One after the other, so that the last list stays. A failed write closes no link: the next
   * change writes everything again.
   */
  #write(record: ProviderRecord, write: () => Promise<void>): void {
    record.written = record.written.then(write).catch((err: unknown) => {
      this.#parts.logger.warn({ err, provider: record.id }, 'cannot store what a provider serves');
    });
  }

  #give(record: ProviderRecord, choice: Choice, use: SlotUse): void {
    record.give(choice, use);
    this.#touched(record);
  }

  #free(record: ProviderRecord, use: SlotUse): void {
    record.slots.free(use);
    this.#touched(record);
    this.#announce();
  }

  #touched(record: ProviderRecord): void {
    if (record.link?.node !== null) return;
    for (const watcher of this.#watchers) watcher.touched(record);
  }

  #remove(id: string): void {
    this.refuse(id, 'revoked');
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#index.forget(record);
    this.#records.delete(id);
  }

  #add(provider: Provider): ProviderRecord {
    const record = new ProviderRecord(provider, {
      ...this.#parts,
      shareQuotas: this.#shareQuotas,
    });
    this.#records.set(record.id, record);
    record.sharing = this.#sharing.get(record.id) ?? record.sharing;
    this.#index.serve(record, record.services);
    return record;
  }

  readonly #announce = (): void => {
    for (const listener of this.#listeners) listener();
  };
}

/** Follows the links that this coordinator holds. */
export interface OwnLinkWatcher {
  /** A link was opened, or its provider serves something else. */
  linked(record: ProviderRecord): void;
  /** Its slots, or what it accepts. */
  touched(record: ProviderRecord): void;
  unlinked(providerId: string, linkId: string): void;
}

const MOVE_AGAIN_MS = 5 * 60_000;
const SETTLED_MS = 10_000;

const RESTARTING = 'the coordinator is restarting';

function refuseLink(link: AgentLink, why: RefusalReason): 'gone' {
  link.end(why);
  return 'gone';
}
