/** NVIDIA's cards, sampled by two processes of `nvidia-smi` that go on printing. */
import type { CardLoad, GpuProcess } from './gpu-sample.js';
import { CARD_FIELDS, parseCard, ProcessRows } from './nvidia-rows.js';
import { RepeatingProgram } from './repeating-program.js';
import { mergeProcesses, SAMPLE_MS } from './sampler.js';
import type { Report, Sampler } from './sampler.js';
import { TickRows } from './tick-rows.js';

interface NvidiaOptions {
  readonly command: string;
  readonly report: Report;
  /** The cards cannot be asked, for now or at all. */
  readonly failed: () => void;
  readonly silenceMs?: number;
  readonly loopAgainMs?: number;
}

/** The shortest that `pmon` knows. */
const PROCESSES_MS = 1_000;
/** Older than this, the list of processes tells nothing of now. */
const STALE_MS = 5_000;

const QUERY = [`--query-gpu=${CARD_FIELDS.join(',')}`, '--format=csv,noheader,nounits'];
/** Games are of type G, and in no other list: `--query-compute-apps` has none of them. */
const PMON = ['pmon', '-s', 'um'];

export class NvidiaWatch implements Sampler {
  readonly #cards: RepeatingProgram;
  readonly #processes: RepeatingProgram;
  readonly #cardTicks: TickRows<CardLoad>;
  readonly #processTicks: TickRows<GpuProcess | null>;
  #load: readonly CardLoad[] = [];
  #latest: { readonly at: number; readonly processes: readonly GpuProcess[] } | null = null;

  constructor({ command, report, failed, ...limits }: NvidiaOptions) {
    const tell = (): void => {
      const at = performance.now();
      report({ at, cards: this.#load, processes: this.#processesAt(at) });
    };
    this.#cardTicks = new TickRows((cards) => {
      this.#load = cards;
      tell();
    });
    this.#processTicks = new TickRows((rows) => {
      const processes = mergeProcesses(rows.filter((row) => row !== null));
      this.#latest = { at: performance.now(), processes };
      // Whoever takes the card does not wait for the next reading of the load.
      if (this.#load.length > 0) tell();
    });
    // First, so that the first sample knows them, too.
    this.#processes = this.#watchProcesses(command, limits);
    this.#cards = new RepeatingProgram({
      ...limits,
      command,
      loop: [...QUERY, '-lms', String(SAMPLE_MS)],
      once: QUERY,
      everyMs: SAMPLE_MS,
      onLine: (line) => {
        const row = parseCard(line);
        if (row !== null) this.#cardTicks.add(row.index, row.load);
        return row !== null;
      },
      onFailure: failed,
    });
  }

  close(): void {
    this.#cards.close();
    this.#processes.close();
    this.#cardTicks.close();
    this.#processTicks.close();
  }

  #watchProcesses(
    command: string,
    limits: Pick<NvidiaOptions, 'silenceMs' | 'loopAgainMs'>,
  ): RepeatingProgram {
    const rows = new ProcessRows();
    return new RepeatingProgram({
      ...limits,
      command,
      loop: [...PMON, '-d', String(PROCESSES_MS / 1_000)],
      once: [...PMON, '-c', '1'],
      everyMs: PROCESSES_MS,
      onLine: (line) => {
        const row = rows.parse(line);
        if (row !== null) this.#processTicks.add(row.key, row.process);
        return row !== null;
      },
      // Without it, what the cards as a whole do still counts.
      onFailure: () => {},
    });
  }

  #processesAt(now: number): readonly GpuProcess[] | null {
    if (this.#latest === null || now - this.#latest.at > STALE_MS) return null;
    return this.#latest.processes;
  }
}
