/** The environment of a bench: the measured processes and those that measure. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LoadGenerator } from './load-generator.js';
import type { BenchOptions } from './options.js';
import { start, stopAll } from './processes.js';
import type { Started } from './processes.js';
import type { Samples } from './samples.js';
import { startGateway } from './subjects/gateway.js';
import type { GatewayServices } from './subjects/gateway.js';
import type { Subject, Surroundings } from './subjects/subject.js';

export interface Grounds {
  readonly surroundings: Surroundings;
  /** Direct, hop and gateway. */
  readonly subjects: readonly Subject[];
  readonly newGenerator: () => LoadGenerator;
}

interface Place extends Pick<Grounds, 'newGenerator'> {
  readonly folder: string;
}

type GroundsOptions = Pick<BenchOptions, 'cpuProf'> & {
  /** Further flags of Node for both programs. */
  readonly nodeFlags?: readonly string[];
};

/** Starts everything, and leaves nothing of it behind. */
export function onGrounds(
  options: GroundsOptions,
  services: GatewayServices,
  measure: (grounds: Grounds) => Promise<Samples>,
): Promise<Samples> {
  return inOwnFolder(async ({ folder, newGenerator }) => {
    return measure({ ...(await startSubjects(folder, options, services)), newGenerator });
  });
}

/** Ends all processes of the bench that `measure` has started, and removes the folder. */
export async function inOwnFolder(measure: (place: Place) => Promise<Samples>): Promise<Samples> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const generators: LoadGenerator[] = [];
  const newGenerator = (): LoadGenerator => {
    const generator = new LoadGenerator();
    generators.push(generator);
    return generator;
  };
  try {
    return await measure({ folder, newGenerator });
  } finally {
    for (const generator of generators) generator.stop();
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startSubjects(
  folder: string,
  { cpuProf, nodeFlags: further = [] }: GroundsOptions,
  services: GatewayServices,
): Promise<Omit<Grounds, 'newGenerator'>> {
  const mock = await startOwn('mock', folder);
  const hop = await startOwn('hop', folder, mock.ready);
  const nodeFlags = [...profilingFlags(cpuProf), ...further];
  const surroundings: Surroundings = { mock: mock.ready, folder, nodeFlags };
  const subjects: Subject[] = [
    { name: 'direct', origin: mock.ready, headers: {}, pids: {}, isPeer: false },
    { name: 'hop', origin: hop.ready, headers: {}, pids: { hop: hop.pid }, isPeer: false },
    await startGateway(surroundings, services),
  ];
  return { surroundings, subjects };
}

/** Of Node. */
export function profilingFlags(cpuProf: string | null): string[] {
  return cpuProf === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
}

/** One of the bench's own servers; `ready` is its origin. */
export function startOwn(
  name: 'mock' | 'hop',
  folder: string,
  ...args: string[]
): Promise<Started> {
  const script = fileURLToPath(new URL(`${name}-process.js`, import.meta.url));
  const ready = /ready on (\S+)/;
  return start({ args: [script, ...args], ready, log: join(folder, `${name}.log`) });
}
