/**
 * The CPU time of each test file, child processes included. `clean-slate.ts` measures it; the
 * reporter prints the total and the most expensive files, and writes all to a table.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** The metadata of a test file, for the reporter. */
export interface CpuMeta {
  cpuMs?: number;
}

const PRINTED = 15;
/** Relative to the checkout. */
const TABLE = join('build', 'test-cpu.txt');
/** One clock tick in `/proc`, on every Linux that Node runs on. */
const TICK_MS = 10;

/** CPU time of this process so far and, on Linux, of its ended children and theirs. Unit: ms. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + childrenMs();
}

function childrenMs(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The second field, the command's name in parentheses, may contain spaces. After it, cutime and
  // cstime are the 14th and 15th fields, proc_pid_stat(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

export class CpuReporter implements Reporter {
  #vitest: Vitest | null = null;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#vitest === null) return;
    const files = modules
      .map((module) => ({
        name: module.relativeModuleId,
        ms: (module.meta() as CpuMeta).cpuMs ?? 0,
      }))
      .toSorted((a, b) => b.ms - a.ms);
    const lines = files.map(({ name, ms }) => `${seconds(ms).padStart(7)}  ${name}`);
    const total = seconds(files.reduce((sum, { ms }) => sum + ms, 0));
    const table = join(this.#vitest.config.root, TABLE);
    mkdirSync(dirname(table), { recursive: true });
    writeFileSync(table, [`${total.padStart(7)}  CPU seconds`, ...lines, ''].join('\n'));
    this.#vitest.logger.log(`        CPU  ${total}s, a table of the files in ${TABLE}:`);
    for (const line of lines.slice(0, PRINTED)) this.#vitest.logger.log(line);
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
