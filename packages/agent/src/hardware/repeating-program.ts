/**
 * A program that prints facts repeatedly: one long-lived process, since starting one for each
 * sample costs more than everything else in an idle agent.
 */
import { spawn } from 'node:child_process';
import { killChild } from '@inference-gateway/shared/program/kill-child';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

interface RepeatingOptions {
  readonly command: string;
  /** Arguments with which it prints until it is ended. */
  readonly loop: readonly string[];
  /** Arguments with which it prints once: for a version that has no loop, or buffers its output. */
  readonly once: readonly string[];
  /** The interval between two starts of a program that ends by itself. */
  readonly everyMs: number;
  /** It counts as hung after so long without output. */
  readonly silenceMs?: number;
  /**
   * A program run once may have been too busy for the loop: the loop is tried again after this
   * time.
   */
  readonly loopAgainMs?: number;
  /** Whether the line contained facts. */
  onLine(line: string): boolean;
  /** A run without useful output; a program missing from the start is not tried again. */
  onFailure(): void;
}

type Child = ChildProcessByStdio<null, Readable, null>;

const SILENCE_MS = 5_000;
const LOOP_AGAIN_MS = 3_600_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** The end of a program that ran this long is a new event, not a failed start. */
const HEALTHY_MS = 60_000;
const MAX_LINE_CHARACTERS = 64 * 1024;

export class RepeatingProgram {
  readonly #options: RepeatingOptions;
  #child: Child | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isLooping = true;
  #changedAt = 0;
  /** It has printed facts, in a loop. */
  #isKnown = false;
  #knowsLoop = false;
  #failures = 0;
  #closed = false;

  constructor(options: RepeatingOptions) {
    this.#options = options;
    this.#start();
  }

  /** A driver that hangs ignores SIGTERM. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#child !== null) killChild(this.#child);
  }

  #start(): void {
    const { command, loop, once } = this.#options;
    const args = this.#isLooping ? loop : once;
    const startedAt = performance.now();
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true });
    this.#child = child;
    let isUseful = false;
    this.#watch(child, () => {
      isUseful = true;
      this.#isKnown = true;
      this.#knowsLoop ||= this.#isLooping;
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) this.#notStarted(error);
    });
    child.once('close', (code) => {
      if (child.pid === undefined) return;
      this.#ended({ isWhole: code === 0 && isUseful, livedMs: performance.now() - startedAt });
    });
  }

  /**
   * Ends it if it prints nothing for too long, as after the loss of a card, or prints an endless
   * line.
   */
  #watch(child: Child, told: () => void): void {
    const { silenceMs = SILENCE_MS } = this.#options;
    const watchdog = setTimeout(() => killChild(child), silenceMs);
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARACTERS) killChild(child);
      if (this.#closed || !lines.map((line) => this.#options.onLine(line)).includes(true)) return;
      watchdog.refresh();
      told();
    });
    child.once('close', () => clearTimeout(watchdog));
  }

  #notStarted(error: NodeJS.ErrnoException): void {
    if (this.#closed) return;
    const isMissing = error.code === 'ENOENT' || error.code === 'EACCES';
    this.#options.onFailure();
    // A program that has worked before is missing only while its driver is replaced.
    if (!isMissing || this.#isKnown) this.#startIn(this.#nextPauseMs());
  }

  #ended({ isWhole, livedMs }: { readonly isWhole: boolean; readonly livedMs: number }): void {
    if (this.#closed) return;
    const { everyMs, loopAgainMs = LOOP_AGAIN_MS } = this.#options;
    if (isWhole || livedMs >= HEALTHY_MS) this.#failures = 0;
    if (!isWhole) {
      this.#loop(this.#knowsLoop || !this.#isLooping);
      this.#options.onFailure();
      return this.#startIn(this.#nextPauseMs());
    }
    if (performance.now() - this.#changedAt >= loopAgainMs) this.#loop(true);
    return this.#startIn(Math.max(everyMs - livedMs, everyMs / 4));
  }

  #loop(isLooping: boolean): void {
    this.#isLooping = isLooping;
    this.#changedAt = performance.now();
  }

  #nextPauseMs(): number {
    return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures++);
  }

  #startIn(ms: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.#start(), ms);
  }
}
