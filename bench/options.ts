import { parseArgs } from 'node:util';

/** Of the small table, which the large one is compared with. */
const MIN_ROWS = 1_000;

export interface BenchOptions {
  /** Other proxies too, as far as they are installed; for the relay alone. */
  readonly peers: boolean;
  /** A folder with @portkey-ai/gateway in its node_modules. */
  readonly portkey: string;
  /** A folder with plainjob and bullmq in its node_modules. */
  readonly queues: string;
  /** Where bullmq's Redis listens. */
  readonly redis: string;
  /** How many jobs lie in the large table. */
  readonly rows: number | null;
  /** Short and rough: shows that it runs. */
  readonly quick: boolean;
  /** Where the CPU profiles of coordinator and agent go; profiling slows both. */
  readonly cpuProf: string | null;
  /** Where all numbers of all rounds go. */
  readonly json: string | null;
  /** Progress, on stderr. */
  readonly say: (line: string) => void;
}

/** The bench's name, and how it is to run. */
export function readOptions(argv: string[]): { name: string | undefined; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      peers: { type: 'boolean', default: false },
      portkey: { type: 'string', default: '.' },
      queues: { type: 'string', default: '.' },
      redis: { type: 'string', default: 'redis://127.0.0.1:6379' },
      rows: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'cpu-prof': { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { rows: written, json = null, 'cpu-prof': cpuProf = null, ...rest } = values;
  const rows = written === undefined ? null : readCount(written);
  return { name: positionals[0], options: { ...rest, rows, json, cpuProf, say } };
}

function readCount(written: string): number {
  const count = Number(written);
  if (Number.isSafeInteger(count) && count >= MIN_ROWS) return count;
  throw new Error(`--rows is "${written}": it must be a whole number from ${MIN_ROWS} on`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
