/** The cost book: what one call and one chunk cost, by part of both programs. */
import { onGrounds } from '../grounds.js';
import type { LoadGenerator } from '../load-generator.js';
import { CHAT } from '../relay/phases.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { addCpu, usedCpuMs } from '../subject-usage.js';
import type { Subject } from '../subjects/subject.js';
import { formatNumber, table } from '../table.js';
import type { Sums, ThreadCounts } from './counter-socket.js';
import { tellCounters } from './counter-socket.js';

const FULL = { rounds: 3, requests: 10_000, counted: 1_000, chunks: 500 };
const QUICK = { rounds: 1, requests: 1_000, counted: 200, chunks: 50 };
const SERVICES = { llm: 1_024 };
const CONNECTIONS = 16;
const STREAMS = 100;
const INTERVAL_MS = 10;
const PROGRAMS = ['coordinator', 'agent'] as const;

/** Does some of it, and returns how many there were. */
type Load = (size: number) => Promise<number>;

export function cost(options: BenchOptions): Promise<Samples> {
  const counters = ['--import', new URL('counters.js', import.meta.url).href];
  return onGrounds({ ...options, nodeFlags: counters }, SERVICES, async (grounds) => {
    const gateway = grounds.subjects.find(({ name }) => name === 'gateway');
    if (gateway === undefined) throw new Error('the grounds have no gateway');
    const size = options.quick ? QUICK : FULL;
    const samples = new Samples(PROGRAMS.flatMap((name) => [name, `${name}'s threads`]));
    const generator = grounds.newGenerator();
    const calls = callsOf(generator, gateway);
    const chunks = chunksOf(generator, gateway);
    // Warm-up: the first calls of a process compile its code.
    await calls(size.requests);
    await chunks(size.chunks);
    for (let i = 0; i < size.rounds; i++) {
      options.say(`round ${i + 1} of ${size.rounds}`);
      for (const unit of ['call', 'chunk'] as const) {
        const load = unit === 'call' ? calls : chunks;
        const most = unit === 'call' ? size.requests : size.chunks;
        const few = unit === 'call' ? size.counted : size.chunks;
        const before = usedCpuMs(gateway);
        const per = await load(most);
        addCpu({ samples, subject: gateway, before, metric: `${unit}.total`, per });
        await profile(samples, gateway, { what: 'cpu', unit, load: () => load(most) });
        await profile(samples, gateway, { what: 'heap', unit, load: () => load(few) });
        await count(samples, gateway, { unit, load: () => load(few) });
      }
    }
    return samples;
  });
}

function callsOf(generator: LoadGenerator, target: Subject): Load {
  return async (maxRequests) => {
    const limits = { connections: CONNECTIONS, durationMs: 60_000, maxRequests } as const;
    return (await generator.run({ kind: 'closed', target, call: CHAT, ...limits })).requests;
  };
}

function chunksOf(generator: LoadGenerator, target: Subject): Load {
  return async (chunks) => {
    const job = { streams: STREAMS, chunks, intervalMs: INTERVAL_MS } as const;
    return (await generator.run({ kind: 'streams', target, ...job })).chunks;
  };
}

interface Measured {
  readonly unit: 'call' | 'chunk';
  readonly load: () => Promise<number>;
}

async function profile(
  samples: Samples,
  { pids }: Subject,
  { what, unit, load }: Measured & { readonly what: 'cpu' | 'heap' },
): Promise<void> {
  for (const name of PROGRAMS) await tellCounters(pids[name] ?? 0, `begin ${what}`);
  const done = await load();
  for (const name of PROGRAMS) {
    const sums = (await tellCounters(pids[name] ?? 0, `end ${what}`)) as Sums;
    for (const [part, sum] of Object.entries(sums)) {
      samples.add(name, `${unit}.${what}.${part}`, what === 'cpu' ? sum : sum / done);
    }
  }
}

async function count(samples: Samples, { pids }: Subject, { unit, load }: Measured) {
  for (const name of PROGRAMS) await tellCounters(pids[name] ?? 0, 'begin counts');
  const done = await load();
  for (const name of PROGRAMS) {
    const { main, threads } = (await tellCounters(pids[name] ?? 0, 'end counts')) as ThreadCounts;
    for (const [thread, counts] of [
      [name, main],
      [`${name}'s threads`, threads],
    ] as const) {
      for (const [what, { times, bytes }] of Object.entries(counts)) {
        samples.add(thread, `${unit}.times.${what}`, times / done);
        samples.add(thread, `${unit}.size.${what}`, bytes / done);
      }
    }
  }
}

export function report(samples: Samples): string {
  const tables = (['call', 'chunk'] as const).flatMap((unit) => [
    ...PROGRAMS.map((name) => partTable(samples, name, unit)),
    countTable(samples, unit),
  ]);
  return tables.join('\n\n');
}

/**
 * The parts that cost most. The sum is measured without a profile, of the whole process with its
 * threads.
 */
function partTable(samples: Samples, program: string, unit: string): string {
  const totalUs = 1000 * samples.median('gateway', `${unit}.total.${program}`);
  const heading = [`${program}, a ${unit}`, 'CPU µs', '%', 'allocated bytes'];
  const parts = namesOf(samples, program, `${unit}.cpu.`).map((part) => ({
    part,
    cpu: totalUs * samples.median(program, `${unit}.cpu.${part}`),
    bytes: samples.median(program, `${unit}.heap.${part}`),
  }));
  const all = {
    part: 'all',
    cpu: totalUs,
    bytes: parts.reduce((sum, { bytes }) => sum + (bytes || 0), 0),
  };
  const rows = [all, ...parts.toSorted((a, b) => (b.cpu || 0) - (a.cpu || 0))].map(
    ({ part, cpu, bytes }) => [
      part,
      formatNumber(cpu, unit === 'call' ? 1 : 2),
      formatNumber((100 * cpu) / totalUs, 1),
      formatNumber(bytes, 0),
    ],
  );
  return table(heading, rows);
}

function countTable(samples: Samples, unit: string): string {
  const threads = samples.subjects.filter((one) => namesOf(samples, one, `${unit}.times.`).length);
  const heading = [`in a ${unit}`, ...threads.flatMap((one) => [one, 'bytes'])];
  const things = new Set(threads.flatMap((one) => namesOf(samples, one, `${unit}.times.`)));
  const rows = [...things]
    .toSorted()
    .map((what) => [
      what,
      ...threads.flatMap((one) => [
        formatNumber(samples.median(one, `${unit}.times.${what}`), 2),
        formatNumber(samples.median(one, `${unit}.size.${what}`) || Number.NaN, 0),
      ]),
    ]);
  return table(heading, rows);
}

function namesOf(samples: Samples, subject: string, start: string): string[] {
  const metrics = Object.keys(samples.toJSON()[subject] ?? {});
  return metrics.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length));
}
