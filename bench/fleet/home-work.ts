/**
 * The running work of a home. A synchronous call ends with its link; a job's claim is held, with
 * its answer, until the coordinator acknowledges it or no longer needs it.
 */
import type { Message, RejectReason } from '@inference-gateway/shared/protocol/messages';
import { createHash } from 'node:crypto';
import { Answer } from './answer.js';
import type { Card, CardRun } from './card.js';
import type { HomePlan } from './home-plan.js';
import type { HomeStream, StreamWork } from './home-stream.js';

type Open = Message<'OPEN'>;
type Offer = Message<'HELLO'>['resume'][number];
type Resumption = Message<'WELCOME'>['resume'][number];

/** Work on the card. */
interface Run {
  readonly answer: Answer;
  begin(body: string): void;
  /** Frees the slot; no effect if it is free. */
  stop(): void;
}

interface HeldJob {
  readonly jobId: string;
  readonly run: Run;
  stream: HomeStream | null;
}

/** What a link does about the claims of earlier links. */
interface Resumer {
  carry(stream: number, start: (stream: HomeStream) => HomeStream): void;
  refuse(stream: number): void;
}

export interface WorkCounts {
  opened: number;
  answered: number;
  failed: number;
  canceled: number;
}

export class HomeWork {
  readonly #plan: HomePlan;
  readonly #card: Card;
  readonly #counts: WorkCounts;
  readonly #held = new Map<string, HeldJob>();
  #busy = 0;

  /** Counts are added to those of the other homes. */
  constructor(plan: HomePlan, card: Card, counts: WorkCounts) {
    this.#plan = plan;
    this.#card = card;
    this.#counts = counts;
  }

  get slots(): { busy: number; free: number } {
    return { busy: this.#busy, free: Math.max(0, this.#plan.slots - this.#busy) };
  }

  /** What HELLO offers. */
  offers(): Offer[] {
    return [...this.#held].map(([claimId, { jobId, run }]) => {
      const { pieces, ending } = run.answer;
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const about = { claim_id: claimId, job_id: jobId, bytes };
      if (ending === null) return { ...about, phase: 'running' };
      const hash = createHash('sha256');
      for (const piece of pieces) hash.update(piece);
      return { ...about, phase: 'spooled', sha256: hash.digest('hex') };
    });
  }

  /** What HEARTBEAT lists. */
  claims(): Message<'HEARTBEAT'>['claims'] {
    return [...this.#held].map(([claimId, { run }]) => {
      return { claim_id: claimId, phase: run.answer.ending === null ? 'running' : 'spooled' };
    });
  }

  open(open: Open, stream: HomeStream): void {
    this.#counts.opened += 1;
    const refusal = this.#refusal(open);
    if (refusal !== null) return stream.reject(refusal);
    if (open.kind === 'job') this.#openJob(open, stream);
    else this.#openCall(open, stream);
    return undefined;
  }

  /** What WELCOME does not name is dropped. */
  resume(resumptions: readonly Resumption[], resumer: Resumer): void {
    const wanted = new Set<string>();
    for (const { claim_id: claimId, action, stream: id } of resumptions) {
      if (action === 'discard' || id === undefined) continue;
      wanted.add(claimId);
      const job = this.#held.get(claimId);
      if (job === undefined) resumer.refuse(id);
      else resumer.carry(id, (stream) => this.#carry(claimId, job, stream));
    }
    for (const claimId of this.#held.keys()) if (!wanted.has(claimId)) this.#drop(claimId);
  }

  acknowledged(claimId: string): void {
    const job = this.#held.get(claimId);
    if (job === undefined || job.run.answer.ending === null) return;
    this.#held.delete(claimId);
    job.stream?.close();
  }

  /** What is whole waits for its acknowledgement all the same. */
  lost(claimIds: readonly string[]): void {
    for (const claimId of claimIds) {
      const job = this.#held.get(claimId);
      if (job?.run.answer.ending !== null) continue;
      job.stream?.reset('CANCELED');
      this.#drop(claimId);
    }
  }

  /** The machine was switched off. */
  forget(): void {
    for (const claimId of this.#held.keys()) this.#drop(claimId);
  }

  #refusal({ model, endpoint }: Open): RejectReason | null {
    if (endpoint !== 'chat') return 'type_mismatch';
    if (!this.#plan.models.includes(model)) return 'no_model';
    return this.#busy >= this.#plan.slots ? 'busy' : null;
  }

  #openCall(open: Open, stream: HomeStream): void {
    const run = this.#newRun(open);
    const work = {
      asked: (body: string) => run.begin(body),
      answered: () => stream.close(),
      canceled: () => this.#canceled(run),
      lost: () => run.stop(),
    };
    stream.take(work, open.body?.bytes ?? 0);
    stream.accept();
    stream.carry(run.answer);
  }

  /** ACCEPT means that the job no longer needs its link, so it waits for the whole request. */
  #openJob(open: Open, stream: HomeStream): void {
    const { job_id: jobId = '', claim_id: claimId = '' } = open;
    const job: HeldJob = { jobId, run: this.#newRun(open), stream };
    const asked = (body: string): void => {
      this.#held.set(claimId, job);
      stream.accept();
      job.run.begin(body);
    };
    stream.take({ ...this.#workOf(claimId, job), asked }, open.body?.bytes ?? 0);
    stream.carry(job.run.answer);
  }

  /** From its first byte on, on a stream of a later link. */
  #carry(claimId: string, job: HeldJob, stream: HomeStream): HomeStream {
    job.stream = stream;
    stream.take(this.#workOf(claimId, job), 0);
    stream.carry(job.run.answer);
    return stream;
  }

  #workOf(claimId: string, job: HeldJob): StreamWork {
    return {
      asked: () => {},
      // The coordinator's word on it is still to come, and closes the stream.
      answered: () => {},
      canceled: () => {
        this.#canceled(job.run);
        this.#drop(claimId);
      },
      lost: () => {
        job.stream = null;
        if (!this.#held.has(claimId)) job.run.stop();
      },
    };
  }

  #newRun({ model, request_id: id }: Open): Run {
    this.#busy += 1;
    let card: CardRun | null = null;
    let isRunning = true;
    const stop = (): void => {
      if (isRunning) this.#busy -= 1;
      isRunning = false;
      card?.stop();
    };
    const answer = new Answer(() => {
      stop();
      this.#counts[answer.ending?.kind === 'failed' ? 'failed' : 'answered'] += 1;
    });
    const begin = (body: string): void => {
      card = this.#card.run({ id, model }, body, answer);
    };
    return { answer, begin, stop };
  }

  #canceled(run: Run): void {
    this.#counts.canceled += 1;
    run.stop();
  }

  #drop(claimId: string): void {
    this.#held.get(claimId)?.run.stop();
    this.#held.delete(claimId);
  }
}
