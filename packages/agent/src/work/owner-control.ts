/**
 * What the owner of this machine decides while the agent runs: whose work is let in, and whose is
 * handed back. A pause outlives the agent; a drain ends with it.
 */
import type { Pause, PauseFile } from '../state/pause-file.js';
import type { ClaimView, HeldClaims } from './held-claims.js';
import type { Accepts, WorkRunner } from './runner.js';
import { within } from './within.js';

interface OwnerControlOptions {
  readonly runner: WorkRunner;
  readonly claims: HeldClaims;
  /** Null: a pause ends with the agent. */
  readonly file: PauseFile | null;
  /** What is let in has changed. */
  readonly changed: () => void;
}

export interface PauseOrder extends Pause {
  /** Hands back what runs for others, too. */
  readonly now: boolean;
}

/** The clock is looked at so often: the machine may sleep, and its clock may be set. */
const LOOK_MS = 60_000;

export class OwnerControl {
  readonly #options: OwnerControlOptions;
  #pause: Pause | null = null;
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

  /** When the pause ends, in Unix ms; null where there is none, or none with an end. */
  get pausedUntil(): number | null {
    return this.accepts === 'own' ? (this.#pause?.until ?? null) : null;
  }

  /** Takes up the pause of an earlier process. */
  async restore(): Promise<void> {
    this.#pause = (await this.#options.file?.read()) ?? null;
    this.#apply();
  }

  /** Lets in the owner's work alone. */
  async pause({ until, now }: PauseOrder): Promise<void> {
    this.#pause = { until };
    this.#draining = false;
    this.#apply();
    if (now) this.#options.runner.stop('yielded', ({ caller }) => !caller.own);
    await this.#save();
  }

  /** Lets in everybody's work. */
  async resume(): Promise<void> {
    this.#pause = null;
    this.#draining = false;
    this.#apply();
    await this.#save();
  }

  /** Lets in nothing. Resolves with whether all that was under way came to its end in time. */
  async drain(timeoutMs: number): Promise<boolean> {
    this.#draining = true;
    this.#apply();
    return within(timeoutMs, this.#quiet());
  }

  jobs(): ClaimView[] {
    return this.#options.claims.list();
  }

  /** What is let in stays as it is from now on. */
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
    const { runner, changed } = this.#options;
    const before = runner.accepts;
    runner.accepts = this.#wanted();
    if (runner.accepts !== before) changed();
  }

  #wanted(): Accepts {
    if (this.#draining) return 'none';
    if (this.#pause === null) return 'all';
    const leftMs = this.#pause.until === null ? null : this.#pause.until - Date.now();
    if (leftMs === null) return 'own';
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#apply(), Math.min(leftMs, LOOK_MS));
      return 'own';
    }
    this.#pause = null;
    void this.#save().catch(() => undefined);
    return 'all';
  }

  /** One after the other, and what counts by then: of two orders at once the later one stays. */
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
