/**
 * Delivers webhooks at least once: a message is deleted from the store only after its receiver has
 * answered, so that one that arrived just before a crash arrives again, with the same id.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { programVersion } from '../../own-files.js';
import type {
  WebhookDelivery,
  WebhookStore,
  Store,
  BatchDetail,
  JobDetail,
  JobStore,
} from '../../store/port.js';
import type { Config } from '../../config/config.js';
import { batchStatus, isFinished } from '../../core/jobs/job.js';
import { postWebhook } from './post-webhook.js';
import { Refusal, resolveByDns, resolveReceiver, hostOf } from './receiver.js';
import type { Resolve, AddressRule } from './receiver.js';

const MAX_UNDER_WAY = 16;

/** Limits per receiver and member, so that hanging receivers do not use all connections. */
const MAX_A_HOST = 2;

const MAX_A_MEMBER = 4;

/** Messages read per member: more than may start, because some of their hosts may be busy. */
const LOOK_A_MEMBER = 16;

const GONE = 410;

/**
 * A message is leased for the timeout of its attempt and this: for the write of the outcome, and
 * for clocks of coordinators that differ by up to 10 s. Of one that dies, others then take it over.
 */
const LEASE_MARGIN_MS = 30_000;

export interface WebhookTimings {
  /** Longest time between two polls. */
  readonly pollMs: number;
  /** The same while messages are being sent, because they hide when the next one is due. */
  readonly busyPollMs: number;
  /** Shortest time between two polls: jobs may end by the hundred. */
  readonly gapMs: number;
  /** Timeout of an attempt: name, connection, headers and body. */
  readonly tryMs: number;
  /** How long `close` waits for current attempts. */
  readonly closeMs: number;
  readonly backOff: BackOff;
}

const SECOND_MS = 1_000;

const MINUTE_MS = 60 * SECOND_MS;

const HOUR_MS = 60 * MINUTE_MS;

export const BACK_OFF: BackOff = {
  delaysMs: [
    5 * SECOND_MS,
    30 * SECOND_MS,
    2 * MINUTE_MS,
    10 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
  ],
  maxAgeMs: 24 * HOUR_MS,
};

const TIMINGS: WebhookTimings = {
  pollMs: 30_000,
  busyPollMs: 1_000,
  gapMs: 50,
  tryMs: 15_000,
  closeMs: 2_000,
  backOff: BACK_OFF,
};

export interface WebhookSenderParts extends AddressRule {
  readonly store: WebhookStore;
  readonly logger: Logger;
  /** The resource to send; null drops the message. */
  readonly describe: Describe;
  readonly userAgent: string;
  readonly resolve?: Resolve;
  /** Certificates that are trusted instead of Node's own. */
  readonly ca?: string;
  /** Unix ms. */
  readonly now: () => number;
  readonly timings?: Partial<WebhookTimings>;
}

interface UnderWay {
  readonly host: string;
  readonly memberId: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** The outcome of an attempt; `stopped`: the coordinator closes before it is known. */
type Verdict = 'over' | 'stopped' | { readonly failed: string };

export class WebhookSender {
  readonly #parts: WebhookSenderParts & { readonly resolve: Resolve };
  readonly #timings: WebhookTimings;
  readonly #underWay = new Map<string, UnderWay>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #lookedAt = -Infinity;
  #wanted = false;
  #closed = false;

  /** Nothing is sent before the first `wake`. */
  constructor(parts: WebhookSenderParts) {
    this.#parts = { resolve: resolveByDns, ...parts };
    this.#timings = { ...TIMINGS, ...parts.timings };
  }

  /** A message may be due: polls now, and regularly from then on. */
  wake(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    if (this.#looking === null) this.#lookIn(0);
  }

  /**
   * Waits a moment for current attempts, and then stops them. Messages that have not arrived stay
   * in the store for the next start.
   */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    const tries = [...this.#underWay.values()];
    const timer = setTimeout(() => {
      for (const { stop } of tries) stop.abort();
    }, this.#timings.closeMs);
    await Promise.all(tries.map(({ ended }) => ended));
    clearTimeout(timer);
  }

  #lookIn(delayMs: number): void {
    if (this.#closed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const gapMs = this.#lookedAt + this.#timings.gapMs - performance.now();
    const begin = (): void => {
      this.#looking = this.#look();
    };
    this.#timer = setTimeout(begin, Math.max(delayMs, gapMs)).unref();
  }

  async #look(): Promise<void> {
    this.#wanted = false;
    const nextMs = await this.#startDue().catch((error: unknown) => {
      this.#parts.logger.warn({ err: error }, 'webhooks cannot be read; they wait');
      return this.#timings.pollMs;
    });
    this.#lookedAt = performance.now();
    this.#looking = null;
    this.#lookIn(this.#wanted ? 0 : nextMs);
  }

  /** Returns the time of the next poll. */
  async #startDue(): Promise<number> {
    const { store, now } = this.#parts;
    const lookedAt = now();
    await this.#startAll(lookedAt);
    const nextAt = (await store.nextWebhookAt()) ?? Infinity;
    const { pollMs, busyPollMs } = this.#timings;
    if (nextAt > lookedAt) return Math.min(Math.max(nextAt - now(), 0), pollMs);
    // It is being sent, or waits for one that is.
    return this.#underWay.size > 0 ? busyPollMs : pollMs;
  }

  async #startAll(now: number): Promise<void> {
    if (this.#underWay.size >= MAX_UNDER_WAY) return;
    // A message that is delivered while the store is read may still be in the result.
    const known = new Set(this.#underWay.keys());
    const due = await this.#parts.store.dueWebhooks(now, LOOK_A_MEMBER);
    const fresh = due.filter(({ id }) => !known.has(id));
    for (const delivery of this.#inTurn(fresh)) this.#start(delivery);
  }

  /** Members with the fewest current attempts first: one member's backlog does not block others. */
  #inTurn(due: readonly WebhookDelivery[]): WebhookDelivery[] {
    const counts = new Map<string, number>();
    for (const { memberId } of this.#underWay.values()) {
      counts.set(memberId, (counts.get(memberId) ?? 0) + 1);
    }
    const countOf = ({ memberId }: WebhookDelivery): number => counts.get(memberId) ?? 0;
    return due.toSorted((one, other) => countOf(one) - countOf(other));
  }

  #start(delivery: WebhookDelivery): void {
    const host = hostOf(delivery.url);
    const { memberId } = delivery;
    if (this.#closed || this.#isFull(host, memberId)) return;
    const stop = new AbortController();
    const ended = this.#deliver(delivery, stop);
    this.#underWay.set(delivery.id, { host, memberId, stop, ended });
  }

  #isFull(host: string, memberId: string): boolean {
    const all = [...this.#underWay.values()];
    const toHost = all.filter((one) => one.host === host);
    const ofMember = all.filter((one) => one.memberId === memberId);
    return (
      all.length >= MAX_UNDER_WAY || toHost.length >= MAX_A_HOST || ofMember.length >= MAX_A_MEMBER
    );
  }

  /** Never throws: a failed write is tried again. */
  async #deliver(delivery: WebhookDelivery, stop: AbortController): Promise<void> {
    const { store, now } = this.#parts;
    const { tryMs } = this.#timings;
    let timer: NodeJS.Timeout | undefined;
    try {
      if (await store.leaseWebhook(delivery.id, now() + tryMs + LEASE_MARGIN_MS, now())) {
        timer = setTimeout(() => stop.abort(), tryMs);
        const verdict = this.#closed ? 'stopped' : await this.#try(delivery, stop.signal);
        clearTimeout(timer);
        await this.#settle(delivery, verdict);
      }
      this.#underWay.delete(delivery.id);
      this.wake();
    } catch (error) {
      clearTimeout(timer);
      // Without a wake: the store has an error, and the next poll comes soon enough.
      this.#underWay.delete(delivery.id);
      this.#parts.logger.warn({ err: error, webhook: delivery.id }, 'a webhook was not noted');
    }
  }

  async #try(delivery: WebhookDelivery, signal: AbortSignal): Promise<Verdict> {
    try {
      const status = await this.#send(delivery, signal);
      const isOver = status === null || status === GONE || (status >= 200 && status < 300);
      return isOver ? 'over' : { failed: `it answered ${status}` };
    } catch (error) {
      if (!signal.aborted) return { failed: reasonOf(error) };
      return this.#closed ? 'stopped' : { failed: `no answer within ${this.#timings.tryMs} ms` };
    }
  }

  /** The status of the answer; null if there is nothing to send. */
  async #send(delivery: WebhookDelivery, signal: AbortSignal): Promise<number | null> {
    const { describe, userAgent, ca, now } = this.#parts;
    const data = await unlessAborted(describe(delivery), signal);
    if (data === null) return null;
    const { id, url, secret } = delivery;
    const head = JSON.stringify({
      type: `${delivery.subject}.finished`,
      timestamp: new Date(delivery.createdAt).toISOString(),
    });
    const body = `${head.slice(0, -1)},"data":${data}}`;
    const addresses = await unlessAborted(resolveReceiver(url, this.#parts), signal);
    const message = { id, url, secret, body, sentAt: new Date(now()) };
    return postWebhook(message, { addresses, userAgent, ca }, signal);
  }

  async #settle(delivery: WebhookDelivery, verdict: Verdict): Promise<void> {
    const { store, logger, now } = this.#parts;
    const { id, subjectId, attempts } = delivery;
    if (verdict === 'stopped') return store.releaseWebhook(id);
    const seen = {
      webhook: id,
      subject: subjectId,
      host: hostOf(delivery.url),
      tries: attempts + 1,
    };
    if (verdict === 'over') {
      logger.debug(seen, 'webhook ended');
      return store.endWebhook(id);
    }
    const nextAt = nextTryAt(delivery, now(), this.#timings.backOff);
    const told = { ...seen, reason: verdict.failed };
    if (nextAt === null) {
      logger.warn(told, 'webhook given up');
      return store.endWebhook(id);
    }
    logger.info(told, 'webhook failed; it is tried again');
    return store.postponeWebhook(id, nextAt);
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    work.then(resolve, reject);
  });
}

/** Codes such as ECONNREFUSED: the messages of Node's errors may contain addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  return code ?? name;
}

// When a failed delivery is tried again.
interface BackOff {
  /** After the first attempt, the second, and so on; the last value is for all further ones. */
  readonly delaysMs: readonly number[];
  /** Counted from the end of the job or batch. */
  readonly maxAgeMs: number;
}

/** Random deviation of up to a fifth, so that simultaneous failures are not retried together. */
const JITTER = 0.2;

/** `attempts`: attempts before the one that failed now; null: give up. */
export function nextTryAt(
  delivery: { readonly attempts: number; readonly createdAt: number },
  now: number,
  { delaysMs, maxAgeMs }: BackOff,
): number | null {
  const delayMs = delaysMs[Math.min(delivery.attempts, delaysMs.length - 1)] ?? maxAgeMs;
  const at = now + Math.round(delayMs * (1 - JITTER + 2 * JITTER * Math.random()));
  return at > delivery.createdAt + maxAgeMs ? null : at;
}

interface WebhookParts {
  readonly store: Store;
  readonly now: () => number;
  readonly logger: Logger;
  readonly config: Pick<Config, 'webhookPrivate' | 'publicUrl'>;
  readonly present: SubjectPresentation;
}

/** The sender of a coordinator; `wake` starts it. */
export function openWebhooks({ store, now, logger, config, present }: WebhookParts): WebhookSender {
  return new WebhookSender({
    store,
    now,
    logger,
    describe: describeSubject(store, present),
    userAgent: `inference-gateway/${programVersion()}`,
    allowPrivate: config.webhookPrivate,
    publicUrl: config.publicUrl,
  });
}

// The body of a webhook: the job or the batch, as the API shows it to its caller.

/** As JSON; null if there is nothing to send any more. */
type Describe = (delivery: WebhookDelivery) => Promise<string | null>;

/** The API's presenters. */
interface SubjectPresentation {
  readonly job: (detail: JobDetail) => string;
  readonly batch: (detail: BatchDetail) => string;
}

/**
 * A job that was retried meanwhile has not ended: its next end has its own message.
 */
function describeSubject(
  store: Pick<JobStore, 'findJob' | 'findBatch'>,
  present: SubjectPresentation,
): Describe {
  return async ({ subject, subjectId, memberId }) => {
    if (subject === 'job') {
      const found = await store.findJob(subjectId, memberId);
      return found !== null && isFinished(found.job.status) ? present.job(found) : null;
    }
    const found = await store.findBatch(subjectId, memberId);
    const isDone = found !== null && batchStatus(found.batch.counts) === 'DONE';
    return isDone ? present.batch(found) : null;
  };
}
