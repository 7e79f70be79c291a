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
  /** A server of PostgreSQL whose user may create databases; null: without it. */
  readonly postgres: string | null;
  /** How many jobs lie in the large table. */
  readonly rows: number | null;
  /** How many tabs of the dashboard are open, and for how long each time. */
  readonly tabs: number | null;
  readonly seconds: number | null;
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
      postgres: { type: 'string' },
      rows: { type: 'string' },
      tabs: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'cpu-prof': { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { json = null, 'cpu-prof': cpuProf = null, postgres = null, ...rest } = values;
  const counts = {
    rows: readCount('rows', values.rows, MIN_ROWS),
    tabs: readCount('tabs', values.tabs, 1),
    seconds: readCount('seconds', values.seconds, 1),
  };
  return { name: positionals[0], options: { ...rest, ...counts, postgres, json, cpuProf, say } };
}

/** Null if it is not given. */
function readCount(name: string, written: string | undefined, least: number): number | null {
  if (written === undefined) return null;
  const count = Number(written);
  if (Number.isSafeInteger(count) && count >= least) return count;
  throw new Error(`--${name} is "${written}": it must be a whole number from ${least} on`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
