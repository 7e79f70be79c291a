/**
 * Who uses this machine, now and today: public names, models and amounts, never a prompt and never
 * an output.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import type { GpuSample } from '../hardware/gpu-sample.js';
import type { TodayFile } from '../state/today-file.js';
import { DayBook } from './day-book.js';
import { EnergyMeter } from './energy-meter.js';
import type { ClaimView } from './held-claims.js';
import { RunRecord } from './run-record.js';
import type { RunOutcome, Use } from './run-record.js';
import { Tally } from './tally.js';

/** As many as there are claims at most. */
const MAX_ENDED_JOBS = 256;

export interface LedgerOptions {
  /** Null: today's sums end with the agent. */
  readonly file: TodayFile | null;
  readonly logger: Pick<Logger, 'warn'>;
  /** In ms; never set back. */
  readonly clock?: () => number;
  /** Unix ms. */
  readonly wallClock?: () => number;
  readonly writeEveryMs?: number;
}

export class Ledger {
  readonly today: DayBook;
  /** Since the agent started, by service. */
  readonly tally = new Tally();
  readonly #clock: () => number;
  readonly #wallClock: () => number;
  readonly #energy: EnergyMeter;
  readonly #running = new Set<RunRecord>();
  /** By claim: their answers may wait to be confirmed. The oldest goes first. */
  readonly #endedJobs = new Map<string, { readonly use: Use; readonly day: string }>();

  constructor({ clock = () => performance.now(), wallClock = Date.now, ...rest }: LedgerOptions) {
    this.#clock = clock;
    this.#wallClock = wallClock;
    this.#energy = new EnergyMeter(clock);
    this.today = new DayBook({ ...rest, wallClock });
  }

  /** A run begins. It tells by itself when it has ended. */
  begin(open: Message<'OPEN'>): RunRecord {
    const record = new RunRecord({
      open,
      since: this.#wallClock(),
      clock: this.#clock,
      ended: (record, outcome) => this.#ended(record, outcome),
    });
    this.#energy.begin(record);
    this.#running.add(record);
    return record;
  }

  /** Every run under way, and every answer that waits to be confirmed. */
  now(claims: readonly ClaimView[]): Use[] {
    this.#energy.reckon();
    const running = [...this.#running].map(({ use }) => use);
    const waiting = claims.filter(({ phase }) => phase === 'spooled');
    return [...running, ...waiting.map((claim) => this.#useOf(claim))];
  }

  sampled(sample: GpuSample): void {
    this.#energy.sampled(sample);
  }

  /** A job's answer was for nobody: its tokens do not count, and its time was spent. */
  unused(claimId: string): void {
    const ended = this.#endedJobs.get(claimId);
    if (ended === undefined) return;
    const { use, day } = ended;
    this.#endedJobs.set(claimId, {
      day,
      use: { ...use, promptTokens: null, completionTokens: null },
    });
    if (day === this.today.day) this.today.takeBack(use);
  }

  #ended(record: RunRecord, outcome: RunOutcome): void {
    this.#energy.end(record);
    this.#running.delete(record);
    const { use } = record;
    this.today.add(use, outcome);
    this.tally.add(use, outcome);
    if (use.claimId !== null) this.#keep(use.claimId, use);
  }

  #keep(claimId: string, use: Use): void {
    this.#endedJobs.delete(claimId);
    this.#endedJobs.set(claimId, { use, day: this.today.day });
    const [oldest] = this.#endedJobs.keys();
    if (this.#endedJobs.size > MAX_ENDED_JOBS && oldest !== undefined) {
      this.#endedJobs.delete(oldest);
    }
  }

  /** Of an earlier process's run only what was written beside its answer is known. */
  #useOf({ bytes, ...facts }: ClaimView): Use {
    const ended = this.#endedJobs.get(facts.claimId);
    if (ended !== undefined) return { ...ended.use, bytes };
    return {
      ...facts,
      id: facts.jobId,
      kind: 'job',
      serviceId: null,
      promptTokens: null,
      completionTokens: null,
      estimated: false,
      seconds: null,
      energyWh: null,
      bytes,
    };
  }
}
