/**
 * Whether the key of a queued job lets it run now, and on which models: a disabled or restricted
 * key, or one whose quota is used up, keeps its jobs waiting. Asked at each claim, so it holds for
 * retries, too, and an alias means then what it means now.
 */
import { callPath, ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import { mayCall, mayName } from '../core/access/access.js';
import { resolve } from '../core/routing/resolve.js';
import type { Naming } from '../core/routing/resolve.js';
import { askedAmount, askedByJob, isLimited } from '../core/usage/quota.js';
import { accountsOf } from '../core/usage/quotas.js';
import type { Account, Reservations } from '../core/usage/quotas.js';
import type { LaneHead, OpenHead, QueuedJob } from '../core/jobs/lane.js';
import type { ApiKey, Job, JobKey, Store, UsageRow } from '../store/port.js';

interface JobGateParts {
  readonly store: Pick<Store, 'findJobKey'>;
  readonly links: Naming;
  readonly quotas: Reservations;
  readonly now: () => number;
}

/** The fields of a job that the gate reads. */
type Gated = Pick<Job, 'memberId' | 'keyId' | 'scope' | 'endpoint' | 'api' | 'model' | 'alias'> & {
  readonly bodyBytes?: number;
};

/** Keys whose jobs have been looked at; about 500 bytes each. */
const MAX_KNOWN = 10_000;

/** The result for one key in one round. */
interface Known {
  readonly key: JobKey | null;
  readonly accounts: readonly Account[];
}

interface Standing {
  /** A sentence; null if nothing holds the job. */
  readonly held: string | null;
  /** On which it may run, in the order in which they are tried. */
  readonly models: readonly string[];
}

export class JobGate {
  readonly #parts: JobGateParts;
  /** By member and key; as `open` last read them. */
  readonly #known = new Map<string, Known>();
  /** Accounts of the jobs that are being claimed, whose size is not known yet. */
  readonly #unsized = new Map<string, readonly string[]>();

  constructor(parts: JobGateParts) {
    this.#parts = parts;
  }

  /** The lanes with the jobs that may run now, for one round of claims. */
  async open(heads: readonly LaneHead[]): Promise<readonly OpenHead[]> {
    if (this.#known.size > MAX_KNOWN) this.#known.clear();
    const read = new Set<string>();
    for (const { lane, jobs } of heads) {
      for (const { keyId } of jobs) {
        const name = nameOf(lane.memberId, keyId);
        if (read.has(name)) continue;
        read.add(name);
        this.#known.set(name, await this.#read(lane.memberId, keyId));
      }
    }
    return heads.flatMap((head) => {
      const jobs = head.jobs.filter((job) => this.#refusalOf(gatedOf(head, job)) === null);
      // All jobs of a lane under an alias are of one key.
      const [first] = jobs;
      return first === undefined ? [] : [{ ...head, jobs, models: this.#modelsOf(head, first) }];
    });
  }

  #modelsOf(head: LaneHead, job: QueuedJob): readonly string[] {
    const { memberId } = head.lane;
    const key = this.#known.get(nameOf(memberId, job.keyId))?.key?.key ?? null;
    return this.#chainOf(gatedOf(head, job), key) ?? [];
  }

  /** The models on which the job may run, in order; null: its key allows none. */
  #chainOf(job: Gated, key: ApiKey | null): readonly string[] | null {
    const { memberId, scope, alias, model, endpoint } = job;
    const caller = { memberId, scope, rules: key?.rules ?? null };
    if (alias !== null) {
      const { serviceType } = ENDPOINTS[endpoint];
      const resolved = resolve(this.#parts.links, { caller, serviceType, model: alias });
      if (resolved.kind !== 'plain') {
        const allowed = resolved.models.filter((id) => mayName(resolved.caller, id));
        return allowed.length === 0 ? null : allowed;
      }
    }
    // An alias that is gone: the model that it stood for at the time.
    return mayName(caller, model) ? [model] : null;
  }

  /** Reserves for a job that `open` has returned; false if it must wait after all. */
  reserve(memberId: string, job: QueuedJob): boolean {
    const accounts = this.#known.get(nameOf(memberId, job.keyId))?.accounts ?? [];
    if (accounts.length === 0) return true;
    // The size of a claimed request is known only when it is read: one at a time, so that together
    // they cannot pass a limit by more than one.
    const sized = accounts.filter(({ quota }) => isSized(quota)).map(accountName);
    const claiming = new Set([...this.#unsized.values()].flat());
    if (sized.some((name) => claiming.has(name))) return false;
    const asked = askedByJob(job.endpoint, job.bodyBytes);
    if (this.#parts.quotas.reserve(job.id, accounts, asked) !== null) return false;
    if (sized.length > 0) this.#unsized.set(job.id, sized);
    return true;
  }

  /** The claimed job's request is read: corrects what is reserved for it. */
  claimed(job: Job, body: Uint8Array): void {
    this.#unsized.delete(job.id);
    const known = this.#known.get(nameOf(job.memberId, job.keyId));
    if (known === undefined || known.accounts.length === 0) return;
    const asked = askedAmount(job.endpoint, body, () => readSparse(body));
    this.#parts.quotas.amend(job.id, asked);
  }

  /** The claim was not made. */
  release(jobId: string): void {
    this.#unsized.delete(jobId);
    this.#parts.quotas.release(jobId);
  }

  /** The job has left its claim, with its usage row if it has ended. */
  left(job: Job, usage: UsageRow | null): void {
    if (usage === null) this.#parts.quotas.release(job.id);
    else this.#parts.quotas.count(usage, job.id);
  }

  /** What its key says of a job that waits. */
  async judge(job: Gated): Promise<Standing> {
    const known = await this.#read(job.memberId, job.keyId);
    const models = this.#chainOf(job, known.key?.key ?? null) ?? [];
    return { held: this.#reason(known, job), models };
  }

  async #read(memberId: string, keyId: string): Promise<Known> {
    const key = await this.#parts.store.findJobKey(keyId, memberId);
    const accounts = key === null ? [] : accountsOf(limitedOf(key, memberId, keyId));
    await this.#parts.quotas.load(accounts);
    return { key, accounts };
  }

  #refusalOf(job: Gated): string | null {
    const known = this.#known.get(nameOf(job.memberId, job.keyId));
    return known === undefined ? null : this.#reason(known, job);
  }

  #reason({ key, accounts }: Known, job: Gated): string | null {
    if (key?.key) {
      const ended = endOf(key.key, this.#parts.now());
      if (ended !== null) return ended;
      if (this.#chainOf(job, key.key) === null) {
        const named = job.alias === null ? `model '${job.model}'` : `alias '${job.alias}'`;
        return `The API key '${key.key.name}' may no longer use the ${named}.`;
      }
      const path = callPath(job);
      if (!mayCall(key.key, path)) {
        return `The API key '${key.key.name}' may no longer call ${path}.`;
      }
    }
    if (accounts.length === 0) return null;
    const asked = askedByJob(job.endpoint, job.bodyBytes ?? 0);
    return this.#parts.quotas.refusalOf(accounts, asked)?.message ?? null;
  }
}

function gatedOf({ lane }: LaneHead, job: QueuedJob): Gated {
  const { memberId, scope, model, alias = null } = lane;
  return { memberId, scope, model, alias, ...job };
}

function limitedOf({ key, limits }: JobKey, memberId: string, keyId: string) {
  const named = key === null ? {} : { keyName: key.name, rules: key.rules };
  return { memberId, keyId, limits, ...named };
}

/** Why a key that has ended keeps its jobs; null if it is good. */
function endOf({ name, disabledAt, revokedAt, expiresAt }: ApiKey, now: number): string | null {
  const remedy = 'Cancel the job and submit it with another key.';
  if (revokedAt !== null) return `The API key '${name}' is revoked. ${remedy}`;
  if (expiresAt !== null && expiresAt <= now) return `The API key '${name}' has expired. ${remedy}`;
  if (disabledAt === null) return null;
  return `The API key '${name}' is disabled. Its jobs wait until it is enabled.`;
}

/** Whether it limits more than the number of requests. */
function isSized({ day, month }: Account['quota']): boolean {
  const { requests: _day, ...ofDay } = day;
  const { requests: _month, ...ofMonth } = month;
  return isLimited({ day: ofDay, month: ofMonth });
}

function accountName({ memberId, keyId }: Account): string {
  return nameOf(memberId, keyId ?? '');
}

function nameOf(memberId: string, keyId: string): string {
  return `${memberId} ${keyId}`;
}
