/**
 * Which providers are online, what they serve, and who may use them. Supplies the matcher's
 * candidates, and keeps only the newest link of each agent.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type {
  AdminLinks,
  CallReport,
  ClaimKeeper,
  Exchange,
  ExchangeHandler,
  OpenRequest,
  ProviderView,
  Reservation,
  Resumption,
  Links,
} from '../core/routing/links.js';
import type { Candidate, Choice } from '../core/routing/match.js';
import type { Shared } from '../core/access/access.js';
import { AliasIndex, NO_ALIASES } from '../core/access/aliases.js';
import { resolveSharing, shareState } from '../core/access/sharing.js';
import type { ProviderSharing, SharingFacts } from '../core/access/sharing.js';
import type { Reservations } from '../core/usage/quotas.js';
import type { Provider, Store } from '../store/port.js';
import type { AgentLink, LinkEvents, AgentLinkTiming } from './agent-link.js';
import { ModelIndex } from './model-index.js';
import { BUSY_PAUSE_MS, ProviderRecord } from './provider-record.js';
import { ShareQuotas } from './share-quotas.js';
import { NO_SLOTS, useOf } from './slot-counts.js';

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
  readonly #parts: RegistryParts;
  readonly #shareQuotas: ShareQuotas;
  aliases = NO_ALIASES;
  #isClosing = false;

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

  open(choice: Choice, request: OpenRequest, handler: ExchangeHandler): Exchange | null {
    const record = this.#records.get(choice.providerId);
    const link = record?.link ?? null;
    if (record === undefined || link === null || choice.freeSlots <= 0) return null;
    if (!record.mayServe(choice, request.memberId)) return null;
    if (!record.reserveShare(choice, request)) return null;
    const use = useOf(choice, 'sync', Math.min(request.sequences, choice.freeSlots));
    const exchange = link.open(use, request, handler);
    if (exchange === null) return null;
    record.give(choice, use);
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
    const link = record?.link ?? null;
    if (record === undefined || link === null || link.id !== choice.linkId) return null;
    if (!record.hasJobSlot(choice.serviceId)) return null;
    const use = useOf(choice, 'job');
    record.give(choice, use);
    const release = (): void => {
      record.report(choice, { kind: 'nothing' });
      if (record.link !== link) return;
      record.slots.free(use);
      this.#announce();
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
    if (current !== null && current.hello.instance_id !== link.hello.instance_id) {
      if (await current.isAlive()) return 'duplicate';
      if (!link.isOpen) return 'gone';
      const meanwhile = refusal();
      if (meanwhile !== null) return refuseLink(link, meanwhile);
    }
    record.arriving = link;
    record.link?.close(CLOSE.superseded, 'a newer link of this agent took over');
    const { id, name } = record;
    const linked = { providerId: id, providerName: name, linkId: link.id };
    const resumptions = await claims.resume(linked, link.hello.resume);
    // It closed before any listener existed, or a newer one has come: if attached now, it would
    // stay.
    const isLate = !link.isOpen || record.arriving !== link || this.#isClosing;
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
    return 'attached';
  }

  kick(providerId: string): boolean {
    const link = this.#records.get(providerId)?.link ?? null;
    link?.close(CLOSE.restart, 'an admin closed this link');
    return link !== null;
  }

  refuse(providerId: string, why: RefusalReason): boolean {
    // Also without a link: one may have been admitted and not have sent HELLO yet.
    this.#refusals.note(providerId, why);
    const { link = null, arriving = null } = this.#records.get(providerId) ?? {};
    for (const one of new Set([link, arriving])) if (one !== null) refuseLink(one, why);
    return link !== null;
  }

  /**
   * Applies what the store knows of providers, sharing and aliases from now on. Closes the link of
   * a removed provider for good. A provider that is not in the facts yet keeps its state from
   * enrollment.
   */
  follow(facts: SharingFacts): void {
    const before = this.#sharing;
    this.#sharing = resolveSharing(facts);
    this.aliases = new AliasIndex(facts.aliases);
    for (const id of [...before.keys(), ...this.#records.keys()]) {
      if (!this.#sharing.has(id)) this.#remove(id);
    }
    for (const provider of facts.providers) {
      const sharing = this.#sharing.get(provider.id);
      this.#records.get(provider.id)?.follow(provider, sharing);
    }
    this.#announce();
  }

  /**
   * Tells every agent that the coordinator stops and when to reconnect. Resolves when all links
   * have ended.
   */
  async closeAll(retryAfterMs: number): Promise<void> {
    this.#isClosing = true;
    const reason = RESTARTING;
    const links = [...this.#records.values()].flatMap(({ link }) => link ?? []);
    for (const link of links) {
      link.send({ t: 'GOAWAY', retry_after_ms: retryAfterMs, reason });
      link.close(CLOSE.restart, reason);
    }
    await Promise.all(links.map((link) => link.closed));
  }

  /** The resumed claims stay with their agent, for its next link. */
  #tooLate(link: AgentLink, resumptions: readonly Resumption[]): 'gone' {
    if (this.#isClosing) link.close(CLOSE.restart, RESTARTING);
    else link.close(CLOSE.superseded, 'a newer link of this agent took over');
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
      acceptsChanged: whileCurrent(this.#announce),
      slotFreed: (use) => {
        if (record.link !== link) return;
        record.slots.free(use);
        this.#announce();
      },
      renew,
      closed: whileCurrent(() => this.#detach(record, link)),
    };
  }

  #detach(record: ProviderRecord, { id: linkId }: AgentLink): void {
    record.unlinked();
    const { store } = this.#parts;
    const at = this.#parts.now();
    this.#write(record, () => store.endLink({ providerId: record.id, linkId }, at));
    this.#announce();
  }

  #servesNow(record: ProviderRecord, { id: linkId, services, host }: AgentLink): void {
    this.#index.serve(record, services);
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

const RESTARTING = 'the coordinator is restarting';

// Providers whose links are refused, and since when. A token is looked up before the upgrade, and
// its HELLO comes up to 10 s later: the provider may have been disabled or revoked in between.

type RefusalReason = 'disabled' | 'revoked';

interface Refusal {
  readonly why: RefusalReason;
  readonly at: number;
}

class Refusals {
  /** Incremented with each refusal: the logical time. */
  now = 0;
  /** The last refusal of each provider: at most one entry per provider that ever existed. */
  readonly #last = new Map<string, Refusal>();

  note(providerId: string, why: RefusalReason): void {
    this.now += 1;
    this.#last.set(providerId, { why, at: this.now });
  }

  /** Why a link whose token was valid at that time is refused; null if it is not. */
  since(providerId: string, time: number): RefusalReason | null {
    const last = this.#last.get(providerId);
    return last !== undefined && last.at > time ? last.why : null;
  }
}

function refuseLink(link: AgentLink, why: RefusalReason): 'gone' {
  link.close(CLOSES[why].code, CLOSES[why].reason);
  return 'gone';
}

const CLOSES = {
  disabled: { code: CLOSE.disabled, reason: 'the owner of this provider is disabled' },
  revoked: { code: CLOSE.tokenRevoked, reason: 'the token of this agent is not valid any more' },
} as const;
