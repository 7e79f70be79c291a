/**
 * Proves models with a tiny question before they are offered: one question at a time per server,
 * servers in parallel, and only if no other work waits for it.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { createHash } from 'node:crypto';
import type { ProofFile, Proof } from '../../state/proof-file.js';
import type { ServiceConfig } from '../backend.js';
import { TRIAL_LIMITS_MS, tryModel } from './try-model.js';
import type { Subject, Trial } from './try-model.js';

/** A slot that is held while a model is asked. */
export interface Reservation {
  release(): void;
}

/** The agent's callbacks; if absent, nothing is asked automatically, or remembered. */
export interface ProvingOptions {
  readonly file?: ProofFile | null;
  /** Takes a slot of a service; null if none is free, or its owner needs the card. */
  readonly reserve?: (serviceId: string) => Reservation | null;
  readonly limitsMs?: Readonly<Record<ServiceType, number>>;
}

export interface ProverHost {
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger | null;
  /** The models of the services that are up, offered or not. */
  readonly subjects: () => readonly Subject[];
  /** A verdict has changed. */
  readonly changed: () => void;
  /** The local server refused the connection. */
  readonly unreachable: (serviceId: string, reason: string) => void;
}

/** Limit of the owner's own tests that wait. */
const MAX_WAITING = 8;

/**
 * A slow server delays only itself; a start with fifty servers does not open fifty connections at
 * once.
 */
const MAX_PROOFS_AT_ONCE = 4;

/**
 * A server that has just started closes connections, or reports that it is loading: the agent asks
 * again after these pauses, and repeats the longest one.
 */
const EARLY_PAUSES_MS = [1_000, 2_000, 3_000, 5_000] as const;

/**
 * After so many tries the result is a verdict: a server may load for five minutes, but should not
 * crash more often than this.
 */
const MAX_EARLY_TRIES = { closed: 5, loading: 60 } as const;

/** Models that were asked too early; the oldest entries are dropped, and their count restarts. */
const MAX_EARLY_MODELS = 512;

export class Prover {
  readonly #options: ProvingOptions;
  readonly #host: ProverHost;
  readonly #proofs: Proofs;
  /** Ends all of it. */
  readonly #closing = new AbortController();
  /** Each aborts a question that the prover asks automatically. */
  readonly #asked = new Set<AbortController>();
  /** By server: settles after the current question and all that wait for their turn. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** By service and model: models that were asked too early, and when to ask again. */
  readonly #early = new Map<string, { readonly tries: number; readonly dueAt: number }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #waiting = 0;
  #endedAt = 0;
  #restored = false;

  constructor(options: ProvingOptions, host: ProverHost) {
    this.#options = options;
    this.#host = host;
    this.#proofs = new Proofs(options.file ?? null);
  }

  /**
   * The `performance.now()` since which no model is asked; null during a question: then the load of
   * a card comes from this agent.
   */
  get idleSince(): number | null {
    return this.#waiting > 0 ? null : this.#endedAt;
  }

  /** No question is asked before it: models proven before are not proven again. */
  async restore(): Promise<void> {
    await this.#proofs.restore();
    this.#restored = true;
  }

  verdict(config: ServiceConfig, model: AdvertisedModel): Verdict {
    return this.#proofs.verdict(config, model);
  }

  /** Asks the next models that are due, if allowed now. Called repeatedly. */
  consider(): void {
    const { reserve } = this.#options;
    if (!this.#restored || this.#closing.signal.aborted || reserve === undefined) return;
    for (const subject of this.#proofs.due(this.#host.subjects(), this.#host.now())) {
      if (this.#asked.size >= MAX_PROOFS_AT_ONCE) return;
      const isEarly = (this.#early.get(keyOf(subject))?.dueAt ?? 0) > performance.now();
      if (isEarly || this.#turns.has(serverOf(subject))) continue;
      const slot = reserve(subject.config.id);
      if (slot !== null) void this.#prove(subject, slot);
    }
  }

  /** An interrupted question, or one without a connection, waits for the next poll. */
  async #prove(subject: Subject, slot: Reservation): Promise<void> {
    const asking = new AbortController();
    this.#asked.add(asking);
    const { cut, early } = await this.#run(subject, slot, asking.signal);
    this.#asked.delete(asking);
    if (cut !== null || early !== null) return;
    // Its card may stay busy after the trial.
    await this.#turns.get(serverOf(subject));
    this.consider();
  }

  /** The owner needs the card: automatic questions are repeated later. */
  interrupt(): void {
    const reason = new DOMException('the owner wants the card', 'AbortError');
    for (const asking of this.#asked) asking.abort(reason);
  }

  /**
   * Asks after the current question, even if the model's result is already known. After the limit
   * the result says nothing about the model.
   */
  async test(subject: Subject, limitMs: number | null): Promise<Trial> {
    if (this.#waiting - this.#asked.size > MAX_WAITING) {
      throw new CommandError(EXIT.conflict, `${MAX_WAITING} tests wait already: try again later.`);
    }
    // The owner asked for it: if no slot is free, the request waits in the local server.
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
    for (const asking of this.#asked) asking.abort(reason);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#closing.abort(reason);
  }

  /** Runs in the server's turn; the slot is always released. */
  async #run(subject: Subject, slot: Reservation | null, stop: AbortSignal): Promise<Trial> {
    this.#waiting++;
    const { limitsMs = TRIAL_LIMITS_MS } = this.#options;
    const limitMs = limitsMs[subject.config.type];
    const server = serverOf(subject);
    const before = this.#turns.get(server) ?? Promise.resolve();
    const turn = Promise.race([before, whenAborted(stop)]);
    let called: Promise<unknown> = Promise.resolve();
    const began = (call: Promise<unknown>): void => void (called = call);
    const trial = turn.then(() => tryModel(subject, { limitMs, stop, began }));
    // Drops the results of both: there may be one an hour for years.
    const over = Promise.all([before, trial.then(() => Promise.allSettled([called]))]);
    const end = over.then(() => {
      slot?.release();
      if (this.#turns.get(server) === end) this.#turns.delete(server);
      return undefined;
    });
    this.#turns.set(server, end);
    const done = this.#orVerdict(subject, await trial);
    await this.#note(subject, done);
    this.#endedAt = performance.now();
    this.#waiting--;
    return done;
  }

  /**
   * A model that was asked too early is asked again soon; after too many such tries the result is a
   * verdict.
   */
  #orVerdict(subject: Subject, trial: Trial): Trial {
    const key = keyOf(subject);
    const tries = (this.#early.get(key)?.tries ?? 0) + 1;
    this.#early.delete(key);
    const { early } = trial;
    if (early === null || tries >= MAX_EARLY_TRIES[early]) return { ...trial, early: null };
    const [oldest] = this.#early.keys();
    if (this.#early.size >= MAX_EARLY_MODELS && oldest !== undefined) this.#early.delete(oldest);
    const pauseMs = EARLY_PAUSES_MS[Math.min(tries, EARLY_PAUSES_MS.length) - 1] ?? 0;
    this.#early.set(key, { tries, dueAt: performance.now() + pauseMs });
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.consider();
    }, pauseMs);
    this.#timers.add(timer);
    return trial;
  }

  async #note(subject: Subject, trial: Trial): Promise<void> {
    const { config, model } = subject;
    const { logger, unreachable, changed } = this.#host;
    const about = { service: config.id, model: model.id, ms: trial.ms, reason: trial.reason };
    if (trial.cut === 'unreachable') unreachable(config.id, trial.reason ?? 'unreachable');
    if (trial.cut !== null || trial.early !== null || !config.prove) return;
    if (trial.ok) logger?.info(about, 'model proven: it is offered from now on');
    else logger?.warn(about, 'model failed its test: it is not offered');
    const noted = this.#proofs.note(subject, trial, this.#host.now());
    changed();
    await noted.catch((err: unknown) => logger?.warn({ err }, 'cannot keep what models showed'));
  }
}

function keyOf({ config, model }: Subject): string {
  return JSON.stringify([config.id, model.id]);
}

/** Several services may be one program. */
function serverOf({ config }: Subject): string {
  return new URL(config.baseUrl).host;
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

// The result for each model, kept over restarts, and which model to ask next.

/** Whether a model is offered to callers. */
type Verdict =
  | { readonly state: 'offered' }
  /** It has not been asked yet, or is being asked. */
  | { readonly state: 'proving' }
  | { readonly state: 'failed'; readonly reason: string };

/** The first failure may be temporary, such as a full card. */
const FIRST_RETRY_MS = 10 * 60_000;

const LATER_RETRY_MS = 60 * 60_000;

/** Far more than one machine serves; the oldest go first. */
const MAX_PROOFS = 2_048;

/** The local server's message may be a whole page. */
const MAX_REASON_CHARACTERS = 500;

export class Proofs {
  readonly #file: ProofFile | null;
  readonly #proofs = new Map<string, Proof>();
  #saved: Promise<void> = Promise.resolve();

  constructor(file: ProofFile | null) {
    this.#file = file;
  }

  /** Restores the proofs of an earlier process. */
  async restore(): Promise<void> {
    const proofs = (await this.#file?.read()) ?? [];
    for (const proof of proofs.slice(-MAX_PROOFS)) {
      this.#proofs.set(proofKey(proof.service, proof.model), proof);
    }
  }

  verdict(config: ServiceConfig, model: AdvertisedModel): Verdict {
    if (!config.prove) return { state: 'offered' };
    const proof = this.#find(config, model);
    if (proof === null) return { state: 'proving' };
    return proof.ok ? { state: 'offered' } : { state: 'failed', reason: proof.reason ?? 'unknown' };
  }

  /** Models due now: never asked before failed ones, loaded ones first. */
  due(subjects: readonly Subject[], nowMs: number): Subject[] {
    const isDue = (subject: Subject): boolean => this.#isDue(subject, nowMs);
    return subjects.filter(isDue).toSorted((a, b) => this.#rank(a) - this.#rank(b));
  }

  /** Resolves once the proof would survive a restart; rejects if the write fails. */
  async note({ config, model }: Subject, { ok, reason }: Trial, nowMs: number): Promise<void> {
    const before = this.#find(config, model);
    const key = proofKey(config.id, model.id);
    this.#proofs.delete(key);
    this.#proofs.set(key, {
      service: config.id,
      model: model.id,
      served_name: model.served_name,
      fingerprint: fingerprintOf(config),
      ok,
      reason: reason?.slice(0, MAX_REASON_CHARACTERS) ?? null,
      at: nowMs,
      failures: ok ? 0 : (before?.failures ?? 0) + 1,
    });
    const [oldest] = this.#proofs.keys();
    if (this.#proofs.size > MAX_PROOFS && oldest !== undefined) this.#proofs.delete(oldest);
    await this.#save();
  }

  #isDue({ config, model }: Subject, nowMs: number): boolean {
    if (!config.prove) return false;
    const proof = this.#find(config, model);
    if (proof === null || proof.ok) return proof === null;
    const waitMs = proof.failures > 1 ? LATER_RETRY_MS : FIRST_RETRY_MS;
    // A clock that was set back must not delay it for ever.
    return nowMs - proof.at >= waitMs || proof.at > nowMs;
  }

  #rank({ config, model }: Subject): number {
    return (this.#find(config, model) === null ? 0 : 2) + (model.loaded === true ? 0 : 1);
  }

  #find(config: ServiceConfig, model: AdvertisedModel): Proof | null {
    const proof = this.#proofs.get(proofKey(config.id, model.id));
    const isSame =
      proof?.served_name === model.served_name && proof.fingerprint === fingerprintOf(config);
    return proof !== undefined && isSame ? proof : null;
  }

  async #save(): Promise<void> {
    const saving = this.#saved.then(() => this.#file?.write([...this.#proofs.values()]));
    this.#saved = saving.catch(() => undefined);
    await saving;
  }
}

function proofKey(service: string, model: string): string {
  return JSON.stringify([service, model]);
}

function fingerprintOf({ type, backend, baseUrl }: ServiceConfig): string {
  const hash = createHash('sha256').update(JSON.stringify([type, backend, baseUrl]));
  return hash.digest('hex').slice(0, 16);
}
