/** Apple's GPU, from the registry of its drivers, which reports no processes. */
import { execFile } from 'node:child_process';
import type { CardLoad, Report, Sampler } from './gpu-sample.js';

/**
 * Each sample starts a process: rare enough to cost little, frequent enough for two samples in 2 s.
 */
const EVERY_MS = 800;
const TIMEOUT_MS = 5_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const ARGS = ['-r', '-d', '1', '-w', '0', '-c', 'IOAccelerator'];
const MIB = 1024 * 1024;

export class AppleWatch implements Sampler {
  readonly #command: string;
  readonly #report: Report;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(command: string, report: Report) {
    this.#command = command;
    this.#report = report;
    this.#ask();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #ask(): void {
    const askedAt = performance.now();
    const limits = {
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
    } as const;
    execFile(this.#command, ARGS, limits, (error, stdout) => {
      if (this.#closed || (error as NodeJS.ErrnoException | null)?.code === 'ENOENT') return;
      const card = error === null ? parseRegistry(stdout) : null;
      const at = performance.now();
      if (card !== null) this.#report({ at, cards: [card], processes: null });
      const leftMs = Math.max(EVERY_MS - (at - askedAt), EVERY_MS / 2);
      this.#timer = setTimeout(() => this.#ask(), leftMs);
    });
  }
}

/** Null if it lists no card. */
function parseRegistry(text: string): CardLoad | null {
  const usePercent = figure(text, 'Device Utilization %');
  const bytes = figure(text, 'In use system memory');
  if (usePercent === null && bytes === null) return null;
  const memoryUsedMib = bytes === null ? null : Math.round(bytes / MIB);
  return { usePercent, memoryUsedMib, temperatureC: null, powerWatts: null };
}

function figure(text: string, name: string): number | null {
  const match = new RegExp(`"${name}"\\s*=\\s*(\\d{1,15})`).exec(text);
  return match === null ? null : Number(match[1]);
}
