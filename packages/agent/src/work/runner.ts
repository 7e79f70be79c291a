/**
 * Decides whether a piece of work is let in, and runs it. The coordinator is not trusted for
 * addresses: it names an endpoint kind, a service and a model, and all three must be what the
 * owner configured.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { contentTypeOf, formatOf } from '@inference-gateway/shared/media-types';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Message, RejectReason } from '@inference-gateway/shared/protocol/messages';
import type { Catalog, CatalogEntry } from '../backends/catalog.js';
import type { HeldClaims } from './held-claims.js';
import { run } from './run.js';
import { Slots } from './slots.js';
import type { StopReason, Work } from './work.js';

/** What a coordinator could have let through; anything larger is not of one. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;
/** Longer ids than a coordinator makes would not fit into HELLO. */
const MAX_ID_CHARACTERS = 64;

export type Accepts = Message<'HEARTBEAT'>['accepts'];

export class WorkRunner {
  /** Whose work the owner lets in. */
  accepts: Accepts = 'all';
  readonly #catalog: Catalog;
  readonly #logger: Logger;
  readonly #claims: HeldClaims;
  readonly #slots = new Slots();
  readonly #running = new Set<Work>();
  readonly #idle: (() => void)[] = [];

  constructor(catalog: Catalog, claims: HeldClaims, logger: Logger) {
    this.#catalog = catalog;
    this.#claims = claims;
    this.#logger = logger;
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Answers ACCEPT and runs the work, or answers REJECT. The slot is taken until the run has ended,
   * whether its answer is fetched by then or not.
   */
  take(work: Work): void {
    const entry = this.#catalog.find(work.open.service_id);
    const refusal = this.#refusal(work.open, entry);
    if (refusal !== null || entry === undefined) return work.reject(refusal ?? 'no_model');
    const slot = this.#slots.take(toOwner(entry), this.#catalog.entries().map(toOwner));
    if (slot === null) return work.reject('busy');
    work.accept();
    this.#running.add(work);
    void run(work, entry, {
      logger: this.#logger,
      unreachable: (reason) => this.#catalog.lost(entry.config.id, reason),
    }).finally(() => {
      slot.release();
      this.#ended(work);
    });
    return undefined;
  }

  /** What HEARTBEAT tells of each service. */
  slots(): Message<'HEARTBEAT'>['slots'] {
    return this.#catalog.entries().map((entry) => {
      const busy = this.#slots.busy(entry.config.id);
      return { service_id: entry.config.id, busy, free: Math.max(0, entry.slots - busy) };
    });
  }

  /** Ends the runs that fit. */
  stop(reason: StopReason, isMeant: (open: Message<'OPEN'>) => boolean): void {
    for (const work of this.#running) if (isMeant(work.open)) work.stop(reason);
  }

  /** Resolves once nothing runs. */
  async drained(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #refusal(open: Message<'OPEN'>, entry: CatalogEntry | undefined): RejectReason | null {
    if (this.accepts === 'none') return 'draining';
    if (entry === undefined) return 'no_model';
    if (!open.caller.own && (this.accepts === 'own' || !entry.config.foreign)) return 'paused';
    if (ENDPOINTS[open.endpoint].serviceType !== entry.type) return 'type_mismatch';
    if (!entry.models.some((model) => model.id === open.model)) return 'no_model';
    if (!fits(open) || !hasOnlyItsFiles(open)) return 'bad_request';
    return open.kind === 'job' ? this.#jobRefusal(open) : null;
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
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function isId(id: string | undefined): id is string {
  return id !== undefined && id.length <= MAX_ID_CHARACTERS;
}

function fits({ body, parts = [] }: Message<'OPEN'>): boolean {
  const uploadBytes = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  return (body?.bytes ?? 0) <= MAX_BODY_BYTES && uploadBytes <= MAX_UPLOAD_BYTES;
}

/** A file's name and type reach the local server: they are those of the endpoint, and no others. */
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
