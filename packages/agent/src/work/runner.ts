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
import type { IncomingWork } from './incoming-work.js';
import { run } from './run.js';
import { Slots } from './slots.js';

/** What a coordinator could have let through; anything larger is not of one. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;

export type Accepts = Message<'HEARTBEAT'>['accepts'];

export class WorkRunner {
  /** Whose work the owner lets in. */
  accepts: Accepts = 'all';
  readonly #catalog: Catalog;
  readonly #logger: Logger;
  readonly #slots = new Slots();
  #running = 0;
  readonly #idle: (() => void)[] = [];

  constructor(catalog: Catalog, logger: Logger) {
    this.#catalog = catalog;
    this.#logger = logger;
  }

  get running(): number {
    return this.#running;
  }

  /** Answers ACCEPT and runs the work, or answers REJECT. */
  take(work: IncomingWork): void {
    const entry = this.#catalog.find(work.open.service_id);
    const refusal = this.#refusal(work.open, entry);
    if (refusal !== null || entry === undefined) return work.reject(refusal ?? 'no_model');
    const slot = this.#slots.take(toOwner(entry), this.#catalog.entries().map(toOwner));
    if (slot === null) return work.reject('busy');
    work.accept();
    this.#running += 1;
    void run(work, entry, {
      logger: this.#logger,
      unreachable: (reason) => this.#catalog.lost(entry.config.id, reason),
    }).finally(() => {
      slot.release();
      this.#ended();
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

  /** Resolves once nothing runs. */
  async drained(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #refusal(open: Message<'OPEN'>, entry: CatalogEntry | undefined): RejectReason | null {
    if (this.accepts === 'none') return 'draining';
    if (entry === undefined) return 'no_model';
    if (!open.caller.own && (this.accepts === 'own' || !entry.config.foreign)) return 'paused';
    if (ENDPOINTS[open.endpoint].serviceType !== entry.type) return 'type_mismatch';
    if (!entry.models.some((model) => model.id === open.model)) return 'no_model';
    if (open.kind !== 'sync' || !fits(open) || !hasOnlyItsFiles(open)) return 'bad_request';
    return null;
  }

  #ended(): void {
    this.#running -= 1;
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
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
