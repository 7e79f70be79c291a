/**
 * Decides whether a piece of work is accepted, and runs it. The coordinator is not trusted with
 * addresses: it names an endpoint kind, a service and a model, and all three must match the owner's
 * configuration.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import { contentTypeOf, formatOf } from '@inference-gateway/shared/media/types';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { NO_COST, costOf } from '@inference-gateway/shared/protocol/messages';
import type {
  Message,
  RejectReason,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import type { Catalog, CatalogEntry } from '../backends/catalog/catalog.js';
import { isOpenToOthers } from '../backends/catalog/snapshot.js';
import { isOfThisMachine } from '../hardware/server-processes.js';
import type { MachineDay } from './day.js';
import { toldJoules } from './energy.js';
import type { HeldClaims } from './held-claims.js';
import type { Ledger } from './ledger.js';
import { RequestBodies } from '../backends/request-bodies.js';
import type { MediaPart } from '../backends/backend.js';
import { run } from './run.js';
import type { StopReason, Work } from './work.js';
import type { RunRecord } from './run-record.js';
import { LiveObjects } from '@inference-gateway/shared/live-objects';

/** The limit of a coordinator; a larger body cannot come from one. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;

/** Bodies stay in memory while they run: the limit for all together equals the limit for one. */
export const MAX_HELD_BODY_BYTES = MAX_BODY_BYTES;

/** Work that takes no slot, such as counting tokens: this much runs at once, of all services. */
export const MAX_BESIDE_SLOTS = 8;

/** Coordinators make no longer ids, and longer ones would not fit into HELLO. */
const MAX_ID_CHARACTERS = 64;

export type Accepts = Message<'HEARTBEAT'>['accepts'];

export interface RunnerParts {
  readonly catalog: Catalog;
  readonly claims: HeldClaims;
  readonly ledger: Ledger;
  /** Counts the slots in use. */
  readonly day?: Pick<MachineDay, 'took'>;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
}

export class WorkRunner {
  /** Whose work the owner accepts. */
  accepts: Accepts = 'all';
  readonly #catalog: Catalog;
  readonly #logger: Logger;
  readonly #claims: HeldClaims;
  readonly #ledger: Ledger;
  readonly #day: RunnerParts['day'];
  readonly #now: () => number;
  readonly #slots = new Slots();
  readonly #bodies = new RequestBodies();
  readonly #running = new LiveObjects<Work>();
  /** By the address of a model server: whether it is on this machine, found at its first run. */
  readonly #here = new Map<string, boolean>();
  readonly #idle: (() => void)[] = [];
  #endedAt = 0;

  constructor({ catalog, claims, ledger, day, now, logger }: RunnerParts) {
    this.#now = now;
    this.#catalog = catalog;
    this.#claims = claims;
    this.#ledger = ledger;
    this.#day = day;
    this.#logger = logger;
  }

  get running(): number {
    return this.#running.size;
  }

  /** The `performance.now()` since which nothing runs; null while something does. */
  get idleSince(): number | null {
    return this.#running.size > 0 ? null : this.#endedAt;
  }

  /**
   * Answers ACCEPT and runs the work, or answers REJECT. The slot is taken until the run has ended,
   * even if its answer has not been fetched by then.
   */
  take(work: Work): void {
    const entry = this.#catalog.find(work.open.service_id);
    const refusal = this.#refusal(work.open, entry);
    if (refusal !== null || entry === undefined) return work.reject(refusal ?? 'no_model');
    const slots = this.#slotsFor(work.open, entry);
    if (slots === null) return work.reject('busy');
    // What does not use the model is no use of the card either.
    const recorded = slots.length > 0 ? this.#recorded(work, entry, slots.length) : work;
    work.accept();
    this.#running.add(work);
    const freed = this.#day?.took(work.open.caller.own, slots.length);
    void run(recorded, entry, {
      logger: this.#logger,
      bodies: this.#bodies,
      slots: slots.length,
      unreachable: (reason) => this.#catalog.lost(entry.config.id, reason),
    }).finally(() => {
      for (const slot of slots) slot.release();
      freed?.();
      this.#ended(work);
    });
    return undefined;
  }

  /**
   * A slot for one of the agent's own questions; null if none is free, and while the owner refuses
   * others' work.
   */
  reserve(serviceId: string): { release(): void } | null {
    const entry = this.#catalog.find(serviceId);
    if (entry === undefined || this.accepts !== 'all') return null;
    return this.#slots.take(toOwner(entry), this.#catalog.entries().map(toOwner));
  }

  /** The slots of each service for HEARTBEAT. */
  slots(): Message<'HEARTBEAT'>['slots'] {
    return this.#catalog.entries().map((entry) => {
      const busy = this.#slots.busy(entry.config.id);
      return { service_id: entry.config.id, busy, free: Math.max(0, entry.slots - busy) };
    });
  }

  /** Ends the matching runs. */
  stop(reason: StopReason, isMeant: (open: Message<'OPEN'>) => boolean): void {
    for (const work of this.#running.all()) if (isMeant(work.open)) work.stop(reason);
  }

  /** Resolves once nothing runs. */
  async drained(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Accepts no more work; resolves once running work has ended. */
  close(): Promise<void> {
    return this.#bodies.close();
  }

  #recorded(work: Work, { config }: CatalogEntry, slots: number): Work {
    const { baseUrl } = config;
    const isHere = this.#here.get(baseUrl) ?? isOfThisMachine(baseUrl);
    this.#here.set(baseUrl, isHere);
    return new MeteredWork(work, this.#ledger.begin(work.open, { slots, isHere }));
  }

  /** None for work that runs beside the slots; null if it has to wait. */
  #slotsFor(open: Message<'OPEN'>, entry: CatalogEntry): { release(): void }[] | null {
    if (kindOf(open.endpoint).runsModel) {
      const slots = this.#takeSlots(entry, open.parallel ?? 1);
      return slots.length === 0 ? null : slots;
    }
    const beside = this.#running.all().filter((work) => !kindOf(work.open.endpoint).runsModel);
    return beside.length < MAX_BESIDE_SLOTS ? [] : null;
  }

  /**
   * As many as are free, up to the requested number: with fewer slots, answers are made in turn.
   */
  #takeSlots(entry: CatalogEntry, most: number): { release(): void }[] {
    const taken: { release(): void }[] = [];
    while (taken.length < most) {
      const slot = this.#slots.take(toOwner(entry), this.#catalog.entries().map(toOwner));
      if (slot === null) break;
      taken.push(slot);
    }
    return taken;
  }

  #refusal(open: Message<'OPEN'>, entry: CatalogEntry | undefined): RejectReason | null {
    if (this.accepts === 'none') return 'draining';
    if (entry === undefined) return 'no_model';
    const isOpen = this.accepts === 'all' && isOpenToOthers(entry.config, this.#now());
    if (!open.caller.own && !isOpen) return 'paused';
    if (ENDPOINTS[open.endpoint].serviceType !== entry.type) return 'type_mismatch';
    if (!entry.models.some((model) => model.id === open.model)) return 'no_model';
    if (!fits(open) || !hasOnlyItsFiles(open)) return 'bad_request';
    if (this.#heldBodyBytes + bodyBytes(open) > MAX_HELD_BODY_BYTES) return 'busy';
    return open.kind === 'job' ? this.#jobRefusal(open) : null;
  }

  get #heldBodyBytes(): number {
    return this.#running.all().reduce((sum, { open }) => sum + bodyBytes(open), 0);
  }

  /** Only JSON endpoints run as jobs: a whole request is held while its job runs. */
  #jobRefusal({ endpoint, job_id, claim_id, parts = [] }: Message<'OPEN'>): RejectReason | null {
    const mayBeJob = ENDPOINTS[endpoint].inferenceType !== null && parts.length === 0;
    if (!mayBeJob || !isId(job_id) || !isId(claim_id)) return 'bad_request';
    if (this.#claims.has(claim_id)) return 'bad_request';
    return this.#claims.isFull ? 'busy' : null;
  }

  #ended(work: Work): void {
    this.#running.delete(work);
    this.#endedAt = performance.now();
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function isId(id: string | undefined): id is string {
  return id !== undefined && id.length <= MAX_ID_CHARACTERS;
}

function fits(open: Message<'OPEN'>): boolean {
  const uploadBytes = (open.parts ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  return bodyBytes(open) <= MAX_BODY_BYTES && uploadBytes <= MAX_UPLOAD_BYTES;
}

function bodyBytes({ body }: Message<'OPEN'>): number {
  return body?.bytes ?? 0;
}

/** A file's name and type reach the local server: only those of the endpoint are allowed. */
function hasOnlyItsFiles({ endpoint, parts = [] }: Message<'OPEN'>): boolean {
  const rules = ENDPOINTS[endpoint].uploads;
  return parts.every(({ name, content_type: type }) => {
    const rule = rules.find((one) => one.name === name);
    const format = formatOf(type);
    if (rule === undefined || format === null || !rule.formats.includes(format)) return false;
    const isOfFamily = contentTypeOf(format, rule.family) === type;
    return isOfFamily && parts.filter((part) => part.name === name).length <= rule.most;
  });
}

function toOwner(entry: CatalogEntry): {
  serviceId: string;
  slots: number;
  slotGroup: string | null;
} {
  return { serviceId: entry.config.id, slots: entry.slots, slotGroup: entry.slotGroup };
}

interface SlotOwner {
  readonly serviceId: string;
  readonly slots: number;
  /**
   * Services of one group share one card: together they run at most the largest `slots` of the
   * group.
   */
  readonly slotGroup: string | null;
}

/** The number of runs per service, and per group of services that share a card. */
export class Slots {
  readonly #busy = new Map<string, number>();
  /** By group: a service that has left the list keeps its slots until its work has ended. */
  readonly #busyInGroup = new Map<string, number>();

  /**
   * Takes a slot of one service; null if none is free. `all` are the services that may share its
   * card.
   */
  take(owner: SlotOwner, all: readonly SlotOwner[]): { release(): void } | null {
    if (this.busy(owner.serviceId) >= owner.slots || this.#groupIsFull(owner, all)) return null;
    this.#count(owner, 1);
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        this.#count(owner, -1);
      },
    };
  }

  busy(serviceId: string): number {
    return this.#busy.get(serviceId) ?? 0;
  }

  #groupIsFull({ slotGroup }: SlotOwner, all: readonly SlotOwner[]): boolean {
    if (slotGroup === null) return false;
    const group = all.filter((other) => other.slotGroup === slotGroup);
    return this.#takenIn(slotGroup) >= Math.max(...group.map((other) => other.slots));
  }

  #takenIn(slotGroup: string): number {
    return this.#busyInGroup.get(slotGroup) ?? 0;
  }

  #count({ serviceId, slotGroup }: SlotOwner, change: 1 | -1): void {
    this.#busy.set(serviceId, this.busy(serviceId) + change);
    if (slotGroup !== null) this.#busyInGroup.set(slotGroup, this.#takenIn(slotGroup) + change);
  }
}

/** A piece of work as its run sees it: records everything that passes in the ledger. */
export class MeteredWork implements Work {
  readonly #work: Work;
  readonly #record: RunRecord;

  constructor(work: Work, record: RunRecord) {
    this.#work = work;
    this.#record = record;
  }

  get open(): Message<'OPEN'> {
    return this.#work.open;
  }

  get request(): Work['request'] {
    return this.#work.request;
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }

  accept(): void {
    this.#work.accept();
  }

  reject(reason: RejectReason): void {
    this.#work.reject(reason);
  }

  stop(reason: StopReason): void {
    this.#work.stop(reason);
  }

  progress(phase: string): void {
    this.#record.loading();
    this.#work.progress(phase);
  }

  head(status: number, contentType: string): void {
    this.#record.answering(status);
    this.#work.head(status, contentType);
  }

  part(part: MediaPart): void {
    this.#work.part(part);
  }

  data(bytes: Uint8Array): Promise<void> {
    this.#record.passed(bytes.length);
    return this.#work.data(bytes);
  }

  end({ usage }: AnswerCost): void {
    this.#record.succeeded(usage ?? null);
    this.#work.end(this.#cost(usage));
  }

  fail(code: ResetCode, message: string, { usage }: AnswerCost = NO_COST): void {
    this.#record.failed(code, usage ?? null);
    this.#work.fail(code, message, this.#cost(usage));
  }

  /** The record has ended. */
  #cost(usage: AnswerCost['usage']): AnswerCost {
    return costOf({ usage, energy_j: toldJoules(this.#record) });
  }
}
