/**
 * Asks models a tiny question before they are offered: one at a time in the whole agent, and only
 * where nobody else is kept waiting by it.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { ProofFile } from '../../state/proof-file.js';
import type { ServiceConfig } from '../backend.js';
import { Proofs } from './proofs.js';
import type { Verdict } from './proofs.js';
import { TRIAL_LIMITS_MS, tryModel } from './try-model.js';
import type { Subject, Trial } from './try-model.js';

/** What is taken for as long as a model is asked. */
export interface Reservation {
  release(): void;
}

/** What of it the agent decides; absent parts: nothing is asked by itself, or remembered. */
export interface ProvingOptions {
  readonly file?: ProofFile | null;
  /** Takes a slot of a service; null where none is free, or its owner wants the card. */
  readonly reserve?: (serviceId: string) => Reservation | null;
  readonly limitsMs?: Readonly<Record<ServiceType, number>>;
}

export interface ProverHost {
  readonly logger: Logger | null;
  /** The models of the services that are up, offered or not. */
  readonly subjects: () => readonly Subject[];
  /** A verdict has become another. */
  readonly changed: () => void;
  /** The local server refused the connection. */
  readonly unreachable: (serviceId: string, reason: string) => void;
}

/** An owner's own tests that wait for their turn. */
const MAX_WAITING = 8;

export class Prover {
  readonly #options: ProvingOptions;
  readonly #host: ProverHost;
  readonly #proofs: Proofs;
  /** Ends all of it. */
  readonly #closing = new AbortController();
  /** Ends the question that is asked of its own accord. */
  #proof = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #endedAt = 0;
  #restored = false;

  constructor(options: ProvingOptions, host: ProverHost) {
    this.#options = options;
    this.#host = host;
    this.#proofs = new Proofs(options.file ?? null);
  }

  /**
   * The `performance.now()` since which no model is asked; null while one is: what a card does then
   * is this agent's doing.
   */
  get idleSince(): number | null {
    return this.#waiting > 0 ? null : this.#endedAt;
  }

  /** Nothing is asked before it: what was proven once is not proven again. */
  async restore(): Promise<void> {
    await this.#proofs.restore();
    this.#restored = true;
  }

  verdict(config: ServiceConfig, model: AdvertisedModel): Verdict {
    return this.#proofs.verdict(config, model);
  }

  /** Asks the next model that is due, if now is a time for it. Called again and again. */
  consider(): void {
    const { reserve } = this.#options;
    const isReady = this.#restored && this.idleSince !== null && !this.#closing.signal.aborted;
    if (!isReady || reserve === undefined) return;
    for (const subject of this.#proofs.due(this.#host.subjects(), Date.now())) {
      const slot = reserve(subject.config.id);
      if (slot === null) continue;
      this.#proof = new AbortController();
      void this.#run(subject, slot, this.#proof.signal).then((trial) => this.#goOn(trial));
      return;
    }
  }

  /** The owner wants the card: what is asked of its own accord is asked again later. */
  interrupt(): void {
    this.#proof.abort(new DOMException('the owner wants the card', 'AbortError'));
  }

  /**
   * Asks now, whatever was known of the model, after what is being asked already. What is not there
   * within the limit is let go, and says nothing of the model.
   */
  async test(subject: Subject, limitMs: number | null): Promise<Trial> {
    if (this.#waiting > MAX_WAITING) {
      throw new CommandError(EXIT.conflict, `${MAX_WAITING} tests wait already: try again later.`);
    }
    // The owner asked for it: where no slot is free, the local server makes it wait.
    const slot = this.#options.reserve?.(subject.config.id) ?? null;
    const limit = new AbortController();
    const tooLong = new DOMException(`no answer within ${limitMs} ms`, 'AbortError');
    const timer = limitMs === null ? undefined : setTimeout(() => limit.abort(tooLong), limitMs);
    try {
      return await this.#run(subject, slot, AbortSignal.any([this.#closing.signal, limit.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    const reason = new DOMException('the agent is stopping', 'AbortError');
    this.#proof.abort(reason);
    this.#closing.abort(reason);
  }

  /** In turn; the slot is given back whatever comes of it. */
  async #run(subject: Subject, slot: Reservation | null, stop: AbortSignal): Promise<Trial> {
    this.#waiting++;
    const { limitsMs = TRIAL_LIMITS_MS } = this.#options;
    const limitMs = limitsMs[subject.config.type];
    const turn = Promise.race([this.#turn, whenAborted(stop)]);
    const trial = turn.then(() => tryModel(subject, { limitMs, stop }));
    // Nothing is kept of what came of either: there may be one an hour for years.
    this.#turn = Promise.all([this.#turn, trial]).then(() => undefined);
    const done = await trial;
    slot?.release();
    await this.#note(subject, done);
    this.#endedAt = performance.now();
    this.#waiting--;
    return done;
  }

  async #note(subject: Subject, trial: Trial): Promise<void> {
    const { config, model } = subject;
    const { logger, unreachable, changed } = this.#host;
    const about = { service: config.id, model: model.id, ms: trial.ms, reason: trial.reason };
    if (trial.cut === 'unreachable') unreachable(config.id, trial.reason ?? 'unreachable');
    if (trial.cut !== null || !config.prove) return;
    if (trial.ok) logger?.info(about, 'model proven: it is offered from now on');
    else logger?.warn(about, 'model failed its test: it is not offered');
    const noted = this.#proofs.note(subject, trial, Date.now());
    changed();
    await noted.catch((err: unknown) => logger?.warn({ err }, 'cannot keep what models showed'));
  }

  /** What was interrupted, or met a closed door, waits for the next poll. */
  #goOn({ cut }: Trial): void {
    if (cut === null) this.consider();
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
