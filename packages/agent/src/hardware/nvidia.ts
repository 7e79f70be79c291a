/** NVIDIA's cards, sampled by two long-running processes of `nvidia-smi`. */
import { execFile } from 'node:child_process';
import type { CardLoad, GpuProcess, Report, Sampler, Gpu } from './gpu-sample.js';
import { RepeatingProgram } from './repeating-program.js';
import { mergeProcesses, SAMPLE_MS, readNumber } from './gpu-sample.js';

interface NvidiaOptions {
  readonly command: string;
  readonly report: Report;
  /** The cards cannot be queried, now or at all. */
  readonly failed: () => void;
  readonly silenceMs?: number;
  readonly loopAgainMs?: number;
}

/** The shortest interval of `pmon`. */
const PROCESSES_MS = 1_000;

/** A list of processes older than this is not used. */
const STALE_MS = 5_000;

const CARD_FIELDS = [
  'index',
  'utilization.gpu',
  'memory.used',
  'power.draw',
  'temperature.gpu',
] as const;

const QUERY = [`--query-gpu=${CARD_FIELDS.join(',')}`, '--format=csv,noheader,nounits'];

/** Games are of type G, and only in this list: `--query-compute-apps` omits them. */
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
      // A program that takes the card is reported at once, without the next reading of the load.
      if (this.#load.length > 0) tell();
    });
    // Started first, so that the first sample includes them.
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
      // Without it, the readings of the whole cards still count.
      onFailure: () => {},
    });
  }

  #processesAt(now: number): readonly GpuProcess[] | null {
    if (this.#latest === null || now - this.#latest.at > STALE_MS) return null;
    return this.#latest.processes;
  }
}

/** All rows of one round are printed at once. */
const QUIET_MS = 25;

/**
 * Programs print a row per card or process, and nothing between two rounds: a round is over when a
 * row repeats, or after a moment without one.
 */
class TickRows<Row> {
  readonly #done: (rows: readonly Row[]) => void;
  #rows = new Map<string, Row>();
  #timer: NodeJS.Timeout | undefined;

  constructor(done: (rows: readonly Row[]) => void) {
    this.#done = done;
  }

  add(key: string, row: Row): void {
    if (this.#rows.has(key)) this.#finish();
    this.#rows.set(key, row);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#finish(), QUIET_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#rows.clear();
  }

  #finish(): void {
    clearTimeout(this.#timer);
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    this.#done(rows);
  }
}

// Parses the output of `nvidia-smi` about cards and the processes on them.
interface CardRow {
  readonly index: string;
  readonly load: CardLoad;
}

/** A line of `--query-gpu` with these fields; null if it is not one. */
export function parseCard(line: string): CardRow | null {
  const cells = line.split(',').map((cell) => cell.trim());
  const [index, use, memory, power, temperature] = cells;
  if (cells.length !== CARD_FIELDS.length || index === undefined) return null;
  if (readNumber(index) === null) return null;
  const [usePercent, memoryUsedMib] = [readNumber(use), readNumber(memory)];
  const [powerWatts, temperatureC] = [readNumber(power), readNumber(temperature)];
  return { index, load: { usePercent, memoryUsedMib, temperatureC, powerWatts } };
}

interface ProcessRow {
  /** Card and process: unique within a round. */
  readonly key: string;
  /** Null: nothing runs on that card. */
  readonly process: GpuProcess | null;
}

/**
 * Reads `nvidia-smi pmon`: its header `# gpu pid type fb sm … command` names the columns, which
 * differ between drivers. The last column may contain spaces.
 */
export class ProcessRows {
  #columns: readonly string[] = [];

  parse(line: string): ProcessRow | null {
    const cells = line.trim().split(/\s+/);
    if (cells[0] === '#') return this.#header(cells.slice(1));
    const cell = (name: string) => cells[this.#columns.indexOf(name)];
    const [gpu, pid] = [readNumber(cell('gpu')), cell('pid')];
    if (gpu === null || pid === undefined) return null;
    const key = `${gpu} ${pid}`;
    const id = readNumber(pid);
    if (id === null) return pid === '-' ? { key, process: null } : null;
    const process = { pid: id, name: this.#nameIn(cells), usePercent: readNumber(cell('sm')) };
    return { key, process: { ...process, memoryMib: readNumber(cell('fb')) } };
  }

  /** The second line of a header contains units. */
  #header(names: readonly string[]): null {
    if (names.includes('pid')) this.#columns = names;
    return null;
  }

  #nameIn(cells: readonly string[]): string | null {
    const at = this.#columns.indexOf('command');
    const name = at < 0 ? '' : cells.slice(at).join(' ');
    return name === '' || name === '-' ? null : name;
  }
}

// NVIDIA's own tool: exact names and memory, if its driver is installed.

const FIELDS = [
  'index',
  'uuid',
  'name',
  'memory.total',
  'memory.used',
  'utilization.gpu',
  'driver_version',
  'compute_cap',
] as const;

const TIMEOUT_MS = 5_000;

/** The limit of HELLO. */
const MAX_NAME = 256;

const MAX_OUTPUT_BYTES = 256 * 1024;

interface NvidiaSmi {
  readonly command: string;
  readonly timeoutMs: number;
}

const INSTALLED: NvidiaSmi = { command: 'nvidia-smi', timeoutMs: TIMEOUT_MS };

/** The cards; rejects if the tool is missing, fails, or exceeds its time limit. */
export function readNvidiaSmi({ command, timeoutMs } = INSTALLED): Promise<Gpu[]> {
  const args = [`--query-gpu=${FIELDS.join(',')}`, '--format=csv,noheader,nounits'];
  // A driver that hangs ignores SIGTERM.
  const options = {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
  } as const;
  return new Promise((done, failed) => {
    execFile(command, args, { ...options, windowsHide: true }, (error, stdout) => {
      if (error === null) done(parse(stdout));
      else failed(error);
    });
  });
}

/** One card per line; a line with a different number of fields is not a card. */
function parse(stdout: string): Gpu[] {
  return stdout.split('\n').flatMap((line) => {
    const cells = line.split(',').map((cell) => cell.trim());
    if (cells.length !== FIELDS.length) return [];
    const cell = (field: (typeof FIELDS)[number]) => known(cells[FIELDS.indexOf(field)]);
    const [name, driver] = [cell('name'), cell('driver_version')];
    return [{ name, vendor: 'NVIDIA', vram_mib: mebibytes(cell('memory.total')), driver }];
  });
}

/** The tool writes `[N/A]`, `[Not Supported]` or `[Unknown Error]` for unknown values. */
function known(cell: string | undefined): string | null {
  return cell === undefined || cell === '' || /^\[.*\]$|^N\/A$/.test(cell)
    ? null
    : cell.slice(0, MAX_NAME);
}

/** Null on cards that share the machine's memory, such as GB10 and Jetson. */
function mebibytes(cell: string | null): number | null {
  return cell !== null && /^[1-9]\d{0,8}$/.test(cell) ? Number(cell) : null;
}
