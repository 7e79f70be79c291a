/** Records one run: the caller, the model, the duration and the amounts. */
import type { Message, ResetCode, TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { EnergyUser } from './energy.js';
import type { ClaimPhase } from './held-job.js';

export const RUN_OUTCOMES = ['ok', 'failed', 'canceled', 'yielded'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** One use of this machine, for its owner: never a prompt or an output. */
export interface Use {
  /** The job's id, or the request's id if a caller waits for the answer. */
  readonly id: string;
  readonly kind: Message<'OPEN'>['kind'];
  readonly jobId: string | null;
  readonly claimId: string | null;
  readonly phase: ClaimPhase;
  readonly endpoint: string;
  /** Null for an answer of an earlier process, as are the tokens and seconds of its run. */
  readonly serviceId: string | null;
  readonly model: string;
  /** The caller's public name. */
  readonly caller: string;
  /** Whether the caller owns this machine. */
  readonly own: boolean;
  /** Unix ms at which the run began. */
  readonly since: number;
  /** Null until the local server has reported them. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** True if the local server did not count them. */
  readonly estimated: boolean;
  /** Duration of the run so far, or in total. */
  readonly seconds: number | null;
  /** Null if no card reports its power, or its server is on another machine. */
  readonly energyWh: number | null;
  /** Size of the answer so far. */
  readonly bytes: number;
}

interface RunRecordOptions {
  readonly open: Message<'OPEN'>;
  /** Slots that it takes. */
  readonly slots: number;
  /** Unix ms. */
  readonly since: number;
  /** In ms; monotonic. */
  readonly clock: () => number;
  /** Called once, after the run's final message. */
  readonly ended: (record: RunRecord, outcome: RunOutcome) => void;
}

export class RunRecord implements EnergyUser {
  readonly open: Message<'OPEN'>;
  readonly slots: number;
  joules: number | null = null;
  isMeasured = true;
  readonly #options: RunRecordOptions;
  readonly #startedAt: number;
  #endedAt: number | null = null;
  #phase: ClaimPhase = 'running';
  #isRefused = false;
  #bytes = 0;
  #usage: TokenUsage | null = null;

  constructor(options: RunRecordOptions) {
    this.open = options.open;
    this.slots = options.slots;
    this.#options = options;
    this.#startedAt = options.clock();
  }

  get use(): Use {
    const { open } = this;
    const jobId = open.kind === 'job' ? (open.job_id ?? null) : null;
    return {
      id: jobId ?? open.request_id,
      kind: open.kind,
      jobId,
      claimId: open.kind === 'job' ? (open.claim_id ?? null) : null,
      phase: this.#endedAt === null ? this.#phase : 'spooled',
      endpoint: open.endpoint,
      serviceId: open.service_id,
      model: open.model,
      caller: open.caller.name,
      own: open.caller.own,
      since: this.#options.since,
      promptTokens: this.#usage?.prompt_tokens ?? null,
      completionTokens: this.#usage?.completion_tokens ?? null,
      estimated: this.#usage?.estimated === true,
      seconds: this.#seconds(),
      energyWh: this.joules === null ? null : this.joules / JOULES_A_WH,
      bytes: this.#bytes,
    };
  }

  loading(): void {
    this.#phase = 'loading';
  }

  /** A status of 400 or more is the local server's refusal. */
  answering(status: number): void {
    this.#phase = 'running';
    this.#isRefused = status >= 400;
  }

  passed(bytes: number): void {
    this.#bytes += bytes;
  }

  succeeded(usage: TokenUsage | null): void {
    if (this.#endedAt !== null) return;
    this.#usage = usage;
    this.#end(this.#isRefused ? 'failed' : 'ok');
  }

  /** A failure after the final message changes nothing. */
  failed(code: ResetCode, usage: TokenUsage | null = null): void {
    if (this.#endedAt !== null) return;
    this.#usage = usage;
    if (code === 'YIELDED') this.#end('yielded');
    else this.#end(code === 'CANCELED' ? 'canceled' : 'failed');
  }

  #end(outcome: RunOutcome): void {
    this.#endedAt = this.#options.clock();
    this.#options.ended(this, outcome);
  }

  #seconds(): number {
    const until = this.#endedAt ?? this.#options.clock();
    return (until - this.#startedAt) / 1_000;
  }
}

export const JOULES_A_WH = 3_600;
