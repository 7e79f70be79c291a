import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Other proxies too, as far as they are installed; for the relay alone. */
  readonly peers: boolean;
  /** A folder with @portkey-ai/gateway in its node_modules. */
  readonly portkey: string;
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
      quick: { type: 'boolean', default: false },
      'cpu-prof': { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { peers, portkey, quick, json = null, 'cpu-prof': cpuProf = null } = values;
  return { name: positionals[0], options: { peers, portkey, quick, json, cpuProf, say } };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
