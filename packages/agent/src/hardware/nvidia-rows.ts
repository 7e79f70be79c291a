/** What `nvidia-smi` prints of its cards and of the processes on them. */
import type { CardLoad, GpuProcess } from './gpu-sample.js';
import { readNumber } from './sampler.js';

export const CARD_FIELDS = [
  'index',
  'utilization.gpu',
  'memory.used',
  'power.draw',
  'temperature.gpu',
] as const;

export interface CardRow {
  readonly index: string;
  readonly load: CardLoad;
}

/** A line of `--query-gpu` with these fields; null where it is none. */
export function parseCard(line: string): CardRow | null {
  const cells = line.split(',').map((cell) => cell.trim());
  const [index, use, memory, power, temperature] = cells;
  if (cells.length !== CARD_FIELDS.length || index === undefined) return null;
  if (readNumber(index) === null) return null;
  const [usePercent, memoryUsedMib] = [readNumber(use), readNumber(memory)];
  const [powerWatts, temperatureC] = [readNumber(power), readNumber(temperature)];
  return { index, load: { usePercent, memoryUsedMib, temperatureC, powerWatts } };
}

export interface ProcessRow {
  /** Of the card and the process: it comes once a round. */
  readonly key: string;
  /** Null: nothing runs on that card. */
  readonly process: GpuProcess | null;
}

/**
 * Reads `nvidia-smi pmon`: its header `# gpu pid type fb sm … command` names the columns, which
 * differ from driver to driver. The last one may hold spaces.
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

  /** The second line of a header holds units. */
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
