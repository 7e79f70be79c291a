/** What the translation of `/responses` and `/messages` costs beside a chat completion. */
import { onGrounds } from '../grounds.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import type { Subject } from '../subjects/subject.js';
import { formatNumber, table } from '../table.js';
import { atMost, targetTable } from '../targets.js';
import type { Target } from '../targets.js';
import { firstTokenPhase, streamsPhase } from './phases.js';

const FULL = { rounds: 5, durationMs: 2_000 };
const QUICK = { rounds: 1, durationMs: 500 };
/** As many slots as a link carries, so that no request waits for one. */
const SERVICES = { llm: 1_024 };
const APIS = ['responses', 'messages'] as const;

export function translation(options: BenchOptions): Promise<Samples> {
  return onGrounds(options, SERVICES, async ({ subjects: own, newGenerator }) => {
    const subjects = own.filter(({ name }) => name === 'gateway').flatMap(byEachApi);
    const { rounds, durationMs } = options.quick ? QUICK : FULL;
    const samples = new Samples(subjects.map(({ name }) => name));
    const round = { generator: newGenerator(), samples: new Samples([]), durationMs };
    // Warm-up: the first calls of a process compile its code.
    for (const subject of subjects) await streamsPhase(round, subject);
    for (let i = 0; i < rounds; i++) {
      options.say(`round ${i + 1} of ${rounds}`);
      for (const phase of [firstTokenPhase, streamsPhase]) {
        for (const subject of subjects) await phase({ ...round, samples }, subject);
      }
    }
    return samples;
  });
}

function byEachApi(gateway: Subject): Subject[] {
  const translated = APIS.map((api) => ({ ...gateway, name: api, api }));
  return [{ ...gateway, name: 'chat' }, ...translated];
}

const CPU = 'streams.cpu.coordinator';

const TARGETS: readonly Target[] = APIS.flatMap((api) => [
  {
    ...atMost(0.3, `/${api}: added first-token time`, (of) => {
      return of(api, 'first.token') - of('chat', 'first.token');
    }),
    unit: ' ms',
  },
  atMost(1.3, `/${api}: coordinator CPU a chunk`, (of) => of(api, CPU) / of('chat', CPU)),
]);

export function report(samples: Samples): string {
  const heading = ['Streams', 'first token ms', 'relay p50 ms', 'coordinator CPU ms a chunk'];
  const rows = samples.subjects.map((name) => [
    name,
    formatNumber(samples.median(name, 'first.token'), 2),
    formatNumber(samples.median(name, 'streams.relay.p50'), 2),
    formatNumber(samples.median(name, CPU), 4),
  ]);
  return `${table(heading, rows)}\n\n${targetTable(TARGETS, samples)}`;
}
