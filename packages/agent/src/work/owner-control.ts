/**
 * The owner's decisions while the agent runs: whose work is accepted, and whose is handed back. A
 * pause survives a restart of the agent; a drain does not.
 */
import { formatDayHours, isOpenAt } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Pause, PauseFile } from '../state/pause-file.js';
import type { GameModeSettings } from '../config/config.js';
import type { GpuProcess, GpuSample, GpuWatch } from '../hardware/gpu-sample.js';
import type { Intruder } from './game-mode.js';
import { GameMode } from './game-mode.js';
import type { ClaimView, HeldClaims } from './held-claims.js';
import type { Accepts, WorkRunner } from './runner.js';
import { within } from './within.js';

interface OwnerControlOptions {
  readonly runner: WorkRunner;
  readonly claims: HeldClaims;
  /** Null: a pause ends with the agent. */
  readonly file: PauseFile | null;
  /** When others may use this machine; null: always. */
  readonly hours?: DayHours | null;
  /** Who uses the card, and what then happens to others' work; null: the card is not watched. */
  readonly card?: Card | null;
  /** Called when the accepted work changes. */
  readonly changed: () => void;
  /** Unix ms. */
  readonly now: () => number;
}

interface Card {
  /** Null: it is free. */
  intruder(): Intruder | null;
  readonly running: 'yield' | 'finish';
}

/** The reason why not all work is accepted: the first of these that applies. */
export type OwnerReason =
  | { readonly kind: 'draining' }
  /** Until when, in Unix ms; null: until the owner resumes. */
  | { readonly kind: 'paused'; readonly until: number | null }
  /** The program, if it is known. */
  | { readonly kind: 'card_in_use'; readonly program: string | null }
  /** `22:00-07:00 Europe/Berlin`. */
  | { readonly kind: 'outside_hours'; readonly hours: string };

export interface PauseOrder extends Pause {
  /** Also hands back running work for others. */
  readonly now: boolean;
}

/** The clock is checked at each full minute: the machine may sleep, and its clock may be set. */
const LOOK_MS = 60_000;

export class OwnerControl {
  readonly #options: OwnerControlOptions;
  #pause: Pause | null = null;
  #isOrdered = false;
  #reason: OwnerReason | null = null;
  #intruder: Intruder | null = null;
  #draining = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #saved: Promise<void> = Promise.resolve();

  constructor(options: OwnerControlOptions) {
    this.#options = options;
  }

  get accepts(): Accepts {
    return this.#options.runner.accepts;
  }

  /** Null if all work is accepted. */
  get reason(): OwnerReason | null {
    return this.#reason;
  }

  /** When the pause ends, in Unix ms; null if there is no pause, or no end. */
  get pausedUntil(): number | null {
    return this.#reason?.kind === 'paused' ? this.#reason.until : null;
  }

  /** Restores the pause of an earlier process, unless the owner has given an order meanwhile. */
  async restore(): Promise<void> {
    const found = (await this.#options.file?.read()) ?? null;
    if (!this.#isOrdered) this.#pause = found;
    this.#apply();
  }

  /** Accepts only the owner's work. */
  async pause({ until, now }: PauseOrder): Promise<void> {
    this.#isOrdered = true;
    this.#pause = { until };
    this.#draining = false;
    this.#apply();
    if (now) this.#yield();
    await this.#save().catch((cause: Error) => {
      throw unkept(cause);
    });
  }

  /** Ends a pause and a drain; the hours and a program on the card still apply. */
  async resume(): Promise<void> {
    this.#isOrdered = true;
    this.#pause = null;
    this.#draining = false;
    this.#apply();
    await this.#save();
  }

  /** Accepts nothing. Resolves with whether all work ended in time. */
  async drain(timeoutMs: number): Promise<boolean> {
    this.#draining = true;
    this.#apply();
    return within(timeoutMs, this.#quiet());
  }

  /** Ends a drain alone: what else kept work out before it does so again. */
  undrain(): void {
    this.#draining = false;
    this.#apply();
  }

  /** The card is in use by a program, or free again. */
  cardChanged(): void {
    this.#apply();
  }

  jobs(): ClaimView[] {
    return this.#options.claims.list();
  }

  /** After this the accepted work no longer changes. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #quiet(): Promise<void> {
    const { runner, claims } = this.#options;
    await runner.drained();
    await claims.emptied();
  }

  #apply(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const { runner, changed, card = null } = this.#options;
    const now = this.#now();
    const wasFree = this.#intruder === null;
    this.#intruder = card?.intruder() ?? null;
    this.#endPause(now);
    this.#reason = this.#reasonAt(now);
    const before = runner.accepts;
    runner.accepts = acceptsFor(this.#reason);
    if (runner.accepts !== before) changed();
    if (wasFree && this.#intruder !== null && card?.running === 'yield') this.#yield();
    this.#lookAgain(now);
  }

  #reasonAt(now: number): OwnerReason | null {
    const { hours = null } = this.#options;
    if (this.#draining) return { kind: 'draining' };
    if (this.#pause !== null) return { kind: 'paused', until: this.#pause.until };
    if (this.#intruder !== null) return { kind: 'card_in_use', ...this.#intruder };
    if (hours === null || isOpenAt(hours, now)) return null;
    return { kind: 'outside_hours', hours: formatDayHours(hours) };
  }

  #endPause(now: number): void {
    const until = this.#pause?.until ?? null;
    if (until === null || until > now) return;
    this.#pause = null;
    void this.#save().catch(() => undefined);
  }

  /** The card reports changes by events; the clock needs a timer. */
  #lookAgain(now: number): void {
    const until = this.#pause?.until ?? null;
    const { hours = null } = this.#options;
    if (until === null && hours === null && this.#intruder === null) return;
    const toMinuteMs = LOOK_MS - (now % LOOK_MS);
    const waitMs = Math.min(toMinuteMs, until === null ? LOOK_MS : until - now);
    this.#timer = setTimeout(() => this.#apply(), waitMs);
  }

  #yield(): void {
    this.#options.runner.stop('yielded', ({ caller }) => !caller.own);
  }

  #now(): number {
    return this.#options.now();
  }

  /**
   * Writes are serial and save the current state: of two simultaneous orders the later one stays.
   */
  async #save(): Promise<void> {
    const { file } = this.#options;
    if (file === null) return;
    const saving = this.#saved.then(() =>
      this.#pause === null ? file.remove() : file.write(this.#pause),
    );
    this.#saved = saving.catch(() => undefined);
    await saving;
  }
}

/** A pause applies even if the disk is full. */
function unkept(cause: Error): CommandError {
  const message =
    `paused, but only until the agent ends: the pause cannot be kept (${cause.message}). ` +
    'Make room in the state folder, and pause again.';
  return new CommandError(EXIT.failure, message, { cause });
}

function acceptsFor(reason: OwnerReason | null): Accepts {
  if (reason === null) return 'all';
  return reason.kind === 'draining' ? 'none' : 'own';
}

// Watches whether the owner of this machine uses the card.

interface CardGuardOptions {
  readonly gpu: GpuWatch;
  readonly settings: GameModeSettings;
  /** The programs among these that are not configured servers; null: unknown. */
  readonly strangers: (
    processes: readonly GpuProcess[] | null,
  ) => Promise<readonly GpuProcess[] | null>;
  /** Told them, with each sample. */
  readonly saw?: (strangers: readonly GpuProcess[] | null) => void;
  /** Since when none of the agent's work runs, as of `performance.now()`; null while some does. */
  readonly idleSince: () => number | null;
  /** The card is in use, by another program than before, or free. */
  readonly changed: () => void;
}

export class CardGuard {
  readonly #options: CardGuardOptions;
  readonly #mode: GameMode;
  readonly #stop: () => void;
  /** What was last told; null: that the card is free. */
  #told: Intruder | null = null;
  /** A sample that waits for the previous judgement; a newer one replaces it. */
  #next: GpuSample | null = null;
  #isJudging = false;

  constructor(options: CardGuardOptions) {
    this.#options = options;
    this.#mode = new GameMode(options.settings);
    this.#stop = options.gpu.onSample((sample) => void this.#take(sample));
  }

  /** Null: the card is free. */
  get intruder(): Intruder | null {
    return this.#mode.intruderAt(performance.now());
  }

  close(): void {
    this.#next = null;
    this.#stop();
  }

  async #take(sample: GpuSample): Promise<void> {
    this.#next = sample;
    if (this.#isJudging) return;
    this.#isJudging = true;
    for (let one: GpuSample | null = sample; one !== null; one = this.#next) {
      this.#next = null;
      await this.#judge(one);
    }
    this.#isJudging = false;
  }

  async #judge({ at, cards, processes }: GpuSample): Promise<void> {
    const { strangers, saw, idleSince, changed } = this.#options;
    const theirs = await strangers(processes);
    saw?.(theirs);
    const seen = { at, cards, processes, strangers: theirs, idleSince: idleSince() };
    // If no sample came for a while the card became free by timeout, which raises no event here.
    const hasLapsed = this.#told !== null && this.#mode.intruderAt(at) === null;
    this.#mode.see(seen);
    const intruder = this.#mode.intruderAt(at);
    // The load of the card often shows before its programs are listed: the name comes later.
    if (isSame(intruder, this.#told) && !hasLapsed) return;
    this.#told = intruder;
    changed();
  }
}

function isSame(one: Intruder | null, other: Intruder | null): boolean {
  if (one === null || other === null) return one === other;
  return one.program === other.program;
}
