/**
 * Whether the key of a queued job lets it run now: a disabled or restricted key, or one whose quota
 * is used up, keeps its jobs waiting. Asked at each claim, so it holds for retries, too.
 */
import { readSparse } from '@inference-gateway/shared/json/sparse';
import { callPath } from '@inference-gateway/shared/endpoints';
import { mayCall, mayName } from '../core/access/access.js';
import { askedAmount, askedByJob, isLimited } from '../core/usage/quota.js';
import { accountsOf } from '../core/usage/quotas.js';
import type { Account, Reservations } from '../core/usage/quotas.js';
import type { LaneHead, QueuedJob } from '../core/jobs/lane.js';
import type { ApiKey, Job, JobKey, Store, UsageRow } from '../store/port.js';

interface JobGateParts {
  readonly store: Pick<Store, 'findJobKey'>;
  readonly quotas: Reservations;
  readonly now: () => number;
}

/** The fields of a job that the gate reads. */
type Gated = Pick<Job, 'memberId' | 'keyId' | 'endpoint' | 'api' | 'model'> & {
  readonly bodyBytes?: number;
};

/** Keys whose jobs have been looked at; about 500 bytes each. */
const MAX_KNOWN = 10_000;

/** The result for one key in one round. */
interface Known {
  readonly key: JobKey | null;
  readonly accounts: readonly Account[];
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
  async open(heads: readonly LaneHead[]): Promise<readonly LaneHead[]> {
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
      return jobs.length === 0 ? [] : [{ ...head, jobs }];
    });
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

  /** A sentence; null if nothing holds the job. */
  async reasonOf(job: Gated): Promise<string | null> {
    return this.#reason(await this.#read(job.memberId, job.keyId), job);
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
      if (!mayName(key.key, job.model)) {
        return `The API key '${key.key.name}' may no longer use the model '${job.model}'.`;
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
  const { memberId, model } = lane;
  return { memberId, model, ...job };
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
