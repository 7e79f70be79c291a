/**
 * The claims that this agent holds: running jobs, and answers that the coordinator has not
 * acknowledged. A link gets its offers from here, and reports the result of each.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type {
  Message,
  RejectReason,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import type { MediaPart } from '../backends/backend.js';
import { HeldJob } from './held-job.js';
import type { ClaimPhase, HeldRun } from './held-job.js';
import { KEPT_MS } from './spool.js';
import type { Spool, JobFacts } from './spool.js';
import { IncomingBody } from '@inference-gateway/shared/protocol/incoming-body';
import type { StopReason, Work } from './work.js';

/** HELLO must hold all of them besides the list of models. */
const MAX_CLAIMS = 256;

const SWEEP_MS = 3_600_000;

/** A claim, for the owner of this machine. */
export interface ClaimView extends JobFacts {
  readonly phase: ClaimPhase;
  /** Size of the answer so far. */
  readonly bytes: number;
}

type Resumption = Message<'WELCOME'>['resume'][number];

/** What a link does with the claims of earlier links. */
export interface Resumer {
  /** Sends the answer on this stream, from its first byte on. */
  carry(job: HeldJob, stream: number): void;
  /** There is no such answer for this stream. */
  refuse(stream: number): void;
}

interface HeldClaimsParts {
  readonly spool: Spool;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
}

export class HeldClaims {
  /** Called if the answer of a claim turns out to be unused. */
  onUnused: (claimId: string) => void = () => {};
  readonly #spool: Spool;
  readonly #now: () => number;
  readonly #logger: Logger;
  readonly #jobs = new Map<string, HeldJob>();
  readonly #emptied: (() => void)[] = [];
  #sweeper: NodeJS.Timeout | undefined;

  constructor({ spool, now, logger }: HeldClaimsParts) {
    this.#spool = spool;
    this.#now = now;
    this.#logger = logger;
  }

  get isFull(): boolean {
    return this.#jobs.size >= MAX_CLAIMS;
  }

  has(claimId: string): boolean {
    return this.#jobs.has(claimId);
  }

  /** Restores the answers that an earlier process left on disk. */
  async restore(): Promise<void> {
    for (const { facts, log } of await this.#spool.restore()) {
      this.#jobs.get(facts.claimId)?.drop('canceled');
      this.#jobs.set(facts.claimId, new HeldJob(facts, log, this.#host()));
    }
    if (this.#jobs.size > 0) this.#logger.info({ answers: this.#jobs.size }, 'spool found');
    this.#sweeper = setInterval(() => this.#dropOld(), SWEEP_MS).unref();
  }

  /** A job that the coordinator opened; its claim is held once its run is accepted. */
  open(open: Message<'OPEN'>): { readonly job: HeldJob; readonly run: JobRun } {
    const job = new HeldJob(factsOf(open, this.#now()), this.#spool.newLog(), this.#host());
    const run = new JobRun(open, job, () => this.#jobs.set(job.facts.claimId, job));
    return { job, run };
  }

  /** The offers for HELLO. */
  offers(): Message<'HELLO'>['resume'] {
    return [...this.#jobs.values()].map(({ facts, phase, log }) => ({
      claim_id: facts.claimId,
      job_id: facts.jobId,
      phase,
      bytes: log.length,
      ...(phase === 'spooled' && { sha256: log.sha256 }),
    }));
  }

  /** The claims for HEARTBEAT. */
  claims(): Message<'HEARTBEAT'>['claims'] {
    return [...this.#jobs.values()].map(({ facts, phase }) => ({ claim_id: facts.claimId, phase }));
  }

  list(): ClaimView[] {
    return [...this.#jobs.values()].map(({ facts, phase, log }) => ({
      ...facts,
      phase,
      bytes: log.length,
    }));
  }

  /** WELCOME's answer to the offers. Drops claims that it does not name. */
  resume(resumptions: readonly Resumption[], resumer: Resumer): void {
    const detached = new Map([...this.#jobs].filter(([, job]) => job.outlet === null));
    for (const { claim_id: claimId, action, stream } of resumptions) {
      if (action === 'discard' || stream === undefined) continue;
      const job = detached.get(claimId);
      if (job === undefined) resumer.refuse(stream);
      else resumer.carry(job, stream);
      detached.delete(claimId);
    }
    for (const job of detached.values()) job.drop('canceled');
  }

  acknowledged(claimId: string, verdict: Message<'RESULT_ACK'>['verdict']): void {
    this.#jobs.get(claimId)?.acknowledged(verdict);
  }

  /**
   * The coordinator's answer to a heartbeat. A claim that has finished meanwhile waits for its
   * acknowledgement.
   */
  lost(claimIds: readonly string[]): void {
    const jobs = claimIds.map((claimId) => this.#jobs.get(claimId));
    for (const job of jobs) if (job?.log.isWhole === false) job.drop('canceled');
  }

  /** Resolves once no claim is held. */
  async emptied(): Promise<void> {
    if (this.#jobs.size > 0) await new Promise<void>((resolve) => this.#emptied.push(resolve));
  }

  /** Leaves whole answers on disk for the next process. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#jobs.values()].map((job) => job.close()));
  }

  #host() {
    return {
      now: this.#now,
      logger: this.#logger,
      forget: (job: HeldJob) => this.#forget(job),
      unused: ({ facts }: HeldJob) => this.onUnused(facts.claimId),
    };
  }

  #forget(job: HeldJob): void {
    const { claimId } = job.facts;
    if (this.#jobs.get(claimId) !== job) return;
    this.#jobs.delete(claimId);
    if (this.#jobs.size === 0) for (const resolve of this.#emptied.splice(0)) resolve();
  }

  #dropOld(): void {
    for (const job of this.#jobs.values()) {
      if (job.log.isWhole && this.#now() - job.facts.since > KEPT_MS) job.drop('canceled');
    }
  }
}

/** Work without these ids is refused before its claim is held. */
function factsOf(
  { job_id: jobId = '', claim_id: claimId = '', ...open }: Message<'OPEN'>,
  since: number,
) {
  const { model, endpoint, caller } = open;
  return {
    jobId,
    claimId,
    model,
    endpoint,
    caller: caller.name,
    own: caller.own,
    since,
  };
}

/**
 * The coordinator waits 5 s for ACCEPT. It means that the job no longer needs its link, so it waits
 * for the whole request; a request that takes longer over a slow line is accepted after this time.
 */
const ACCEPT_WITHIN_MS = 2_000;

/** The run of a job: its answer is recorded, and outlives the link that requested it. */
class JobRun implements Work, HeldRun {
  readonly open: Message<'OPEN'>;
  readonly request: IncomingBody;
  isLoading = false;
  hasRequest = false;
  readonly #job: HeldJob;
  readonly #hold: () => void;
  readonly #abort = new AbortController();

  /** `hold` is called when the work is accepted: from then on its claim is held. */
  constructor(open: Message<'OPEN'>, job: HeldJob, hold: () => void) {
    this.open = open;
    this.#job = job;
    this.#hold = hold;
    this.request = new IncomingBody({
      bodyBytes: open.body?.bytes ?? 0,
      uploads: [],
      consumed: (bytes) => job.outlet?.consumed(bytes),
    });
    job.runs(this);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  receive(bytes: Uint8Array): void {
    this.request.receive(bytes);
  }

  accept(): void {
    this.#hold();
    const accept = (): void => {
      clearTimeout(accepting);
      if (!this.signal.aborted) this.#job.outlet?.accept();
    };
    const accepting = setTimeout(accept, ACCEPT_WITHIN_MS);
    this.signal.addEventListener('abort', () => clearTimeout(accepting), { once: true });
    const arrived = (): void => {
      this.hasRequest = true;
      accept();
    };
    void this.request.body.then(arrived, () => undefined);
  }

  reject(reason: RejectReason): void {
    this.#job.outlet?.reject(reason);
  }

  stop(reason: StopReason): void {
    this.#abort.abort(reason);
    this.request.end(reason);
  }

  progress(phase: string): void {
    this.isLoading = true;
    this.#job.outlet?.progress(phase);
  }

  head(status: number, contentType: string): void {
    this.isLoading = false;
    this.#job.log.head(status, contentType);
  }

  part(part: MediaPart): void {
    this.#job.log.part(part);
  }

  /** Never waits for the link: a slow link must not keep the card busy. */
  data(bytes: Uint8Array): Promise<void> {
    return this.#job.log.data(bytes);
  }

  end(cost: AnswerCost): void {
    this.#job.log.end(cost);
    this.#job.ended();
  }

  /** Only a whole answer counts: a job's answer is never a stream. */
  fail(code: ResetCode, message: string): void {
    this.#job.failed(code, message);
  }
}
