/**
 * Who is online with what. It answers the matcher's question from an index by model, so that a
 * call costs the same with one provider as with a thousand, and it lets the newest session of an
 * agent win.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type { AdminSessions } from '../core/admin-sessions.js';
import type { Candidate } from '../core/match.js';
import type {
  ClaimKeeper,
  Exchange,
  ExchangeHandler,
  LinkedProvider,
  OpenRequest,
  ProviderView,
  Reservation,
  Resumption,
  Sessions,
} from '../core/sessions.js';
import type { Provider, Store } from '../store/port.js';
import type { AgentSession } from './agent-session.js';
import { FormerModels } from './former-models.js';
import type { SessionEvents } from './greeting.js';
import { BUSY_PAUSE_MS, ProviderRecord } from './provider-record.js';
import type { SessionTiming } from './welcome.js';

interface IndexEntry {
  readonly record: ProviderRecord;
  readonly service: AdvertisedService;
  readonly model: AdvertisedModel;
}

export interface Attachment {
  readonly timing: SessionTiming;
  readonly claims: ClaimKeeper;
}

type SeenRecorder = Pick<Store, 'recordProviderSeen'>;

export class Registry implements Sessions, AdminSessions {
  readonly #records = new Map<string, ProviderRecord>();
  readonly #index = new Map<string, IndexEntry[]>();
  readonly #former = new FormerModels();
  readonly #listeners = new Set<() => void>();
  readonly #store: SeenRecorder;
  readonly #logger: Logger;
  #isClosing = false;

  constructor(providers: readonly Provider[], store: SeenRecorder, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
    for (const provider of providers) this.#add(new ProviderRecord(provider));
  }

  candidates(serviceType: ServiceType, model: string): readonly Candidate[] {
    const now = performance.now();
    const entries = this.#index.get(indexKey(serviceType, model)) ?? [];
    return entries.map((entry) => entry.record.candidate(entry.service, entry.model, now));
  }

  formerCandidates(serviceType: ServiceType, model: string): readonly Candidate[] {
    return this.#former.candidates(serviceType, model);
  }

  providers(): readonly ProviderView[] {
    return [...this.#records.values()].map((record) => record.view());
  }

  open(candidate: Candidate, request: OpenRequest, handler: ExchangeHandler): Exchange | null {
    const record = this.#records.get(candidate.providerId);
    const session = record?.session ?? null;
    if (record === undefined || session === null || candidate.freeSlots <= 0) return null;
    const exchange = session.open(candidate.serviceId, request, handler);
    if (exchange !== null) record.take(candidate.serviceId, 'sync');
    return exchange;
  }

  reserve({ providerId, sessionId, serviceId }: Candidate): Reservation | null {
    const record = this.#records.get(providerId);
    const session = record?.session ?? null;
    if (record === undefined || session === null || session.id !== sessionId) return null;
    if (!record.hasJobSlot(serviceId)) return null;
    record.take(serviceId, 'job');
    const release = (): void => {
      if (record.session !== session) return;
      record.slots.free(serviceId, 'job');
      this.#announce();
    };
    const open = (request: OpenRequest, handler: ExchangeHandler): Exchange | null => {
      const exchange = session.open(serviceId, request, handler);
      if (exchange === null) release();
      return exchange;
    };
    return { open, release };
  }

  freeJobSlots(): number {
    const now = performance.now();
    let free = 0;
    for (const record of this.#records.values()) free += record.freeJobSlots(now);
    return free;
  }

  report(candidate: Candidate, outcome: 'ok' | 'failed' | 'busy'): void {
    const record = this.#records.get(candidate.providerId);
    if (record === undefined || outcome === 'ok') return;
    if (outcome === 'failed') return record.failed(performance.now());
    record.refused(performance.now());
    setTimeout(this.#announce, BUSY_PAUSE_MS + 1).unref();
  }

  onCapacity(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Makes the session the provider's current one. The newest session of an agent wins; but while
   * another process holds a link that still answers, a second copy is refused. Rejects where the
   * claims that the agent brings cannot be looked up.
   */
  async attach(
    session: AgentSession,
    provider: Provider,
    { timing, claims }: Attachment,
  ): Promise<'attached' | 'duplicate' | 'gone'> {
    const record = this.#records.get(provider.id) ?? this.#add(new ProviderRecord(provider));
    const current = record.session;
    if (current !== null && current.hello.instance_id !== session.hello.instance_id) {
      if (await current.isAlive()) return 'duplicate';
      if (!session.isOpen) return 'gone';
    }
    record.arriving = session;
    record.session?.close(CLOSE.superseded, 'a newer link of this agent took over');
    const linked = toLinked(record, session);
    const resumptions = await claims.resume(linked, session.hello.resume);
    // Its close was told to nobody, or a still newer one has come: attached now, it would stay.
    const isLate = !session.isOpen || record.arriving !== session || this.#isClosing;
    if (isLate) return this.#tooLate(session, resumptions);
    record.linked(session);
    for (const one of resumptions) {
      if (one.action === 'continue') record.take(one.serviceId, 'job');
    }
    const { id, name } = record;
    const events = this.#eventsOf(record, session, (held) => claims.renew(linked, held));
    session.welcome({ provider: { id, name }, timing, events, resumptions });
    this.#servesNow(record, session);
    return 'attached';
  }

  kick(providerId: string): boolean {
    const session = this.#records.get(providerId)?.session ?? null;
    session?.close(CLOSE.restart, 'an admin closed this link');
    return session !== null;
  }

  setDraining(providerId: string, draining: boolean): void {
    const record = this.#records.get(providerId);
    if (record === undefined) return;
    record.draining = draining;
    this.#announce();
  }

  /**
   * Tells every agent that the coordinator is going away, and when to come back. Resolves when
   * all links have ended.
   */
  async closeAll(retryAfterMs: number): Promise<void> {
    this.#isClosing = true;
    const reason = RESTARTING;
    const sessions = [...this.#records.values()].flatMap(({ session }) => session ?? []);
    for (const session of sessions) {
      session.control(JSON.stringify({ t: 'GOAWAY', retry_after_ms: retryAfterMs, reason }));
      session.close(CLOSE.restart, reason);
    }
    await Promise.all(sessions.map((session) => session.closed));
  }

  /** What it brought back stays with its agent, for the next link. */
  #tooLate(session: AgentSession, resumptions: readonly Resumption[]): 'gone' {
    if (this.#isClosing) session.close(CLOSE.restart, RESTARTING);
    else session.close(CLOSE.superseded, 'a newer link of this agent took over');
    for (const one of resumptions) {
      if (one.action !== 'discard') one.handler.fail({ kind: 'disconnected' });
    }
    return 'gone';
  }

  #eventsOf(
    record: ProviderRecord,
    session: AgentSession,
    renew: SessionEvents['renew'],
  ): SessionEvents {
    const whileCurrent = (act: () => void) => (): void => {
      if (record.session === session) act();
    };
    return {
      servicesChanged: whileCurrent(() => this.#servesNow(record, session)),
      acceptsChanged: whileCurrent(this.#announce),
      slotFreed: (serviceId, kind) => {
        if (record.session !== session) return;
        record.slots.free(serviceId, kind);
        this.#announce();
      },
      renew,
      closed: whileCurrent(() => this.#detach(record)),
    };
  }

  #detach(record: ProviderRecord): void {
    record.unlinked();
    this.#save(record, {});
    this.#announce();
  }

  #servesNow(record: ProviderRecord, session: AgentSession): void {
    const { services, host } = session;
    this.#serve(record, services);
    this.#save(record, { services, host });
    this.#announce();
  }

  /**
   * What a provider last served is worth no link: where it cannot be written, the next change is.
   */
  #save(record: ProviderRecord, seen: Parameters<SeenRecorder['recordProviderSeen']>[1]): void {
    this.#store.recordProviderSeen(record.id, seen, Date.now()).catch((err: unknown) => {
      this.#logger.warn({ err, provider: record.id }, 'cannot store what a provider serves');
    });
  }

  #add(record: ProviderRecord): ProviderRecord {
    this.#records.set(record.id, record);
    this.#serve(record, record.services);
    return record;
  }

  /** Replaces what the provider serves, in the record and in the index. */
  #serve(record: ProviderRecord, services: readonly AdvertisedService[]): void {
    for (const key of indexEntries(record, record.services).keys()) {
      const others = this.#index.get(key)?.filter((entry) => entry.record !== record) ?? [];
      if (others.length > 0) this.#index.set(key, others);
      else this.#index.delete(key);
    }
    this.#former.change(record, { before: record.services, after: services });
    record.services = services;
    for (const [key, entries] of indexEntries(record, services)) {
      this.#index.set(key, [...(this.#index.get(key) ?? []), ...entries]);
    }
  }

  readonly #announce = (): void => {
    for (const listener of this.#listeners) listener();
  };
}

const RESTARTING = 'the coordinator is restarting';

function toLinked(record: ProviderRecord, session: AgentSession): LinkedProvider {
  return { providerId: record.id, providerName: record.name, sessionId: session.id };
}

function indexEntries(
  record: ProviderRecord,
  services: readonly AdvertisedService[],
): Map<string, IndexEntry[]> {
  const index = new Map<string, IndexEntry[]>();
  for (const service of services) {
    for (const model of service.models) {
      const key = indexKey(service.service_type, model.id);
      index.set(key, [...(index.get(key) ?? []), { record, service, model }]);
    }
  }
  return index;
}

function indexKey(serviceType: ServiceType, model: string): string {
  return `${serviceType} ${model}`;
}
