/** What the relay holds itself to, as ratios within one run. */
import { atLeast, atMost, ratio } from '../targets.js';
import type { Read, Target } from '../targets.js';

export const TARGETS: readonly Target[] = [
  ...[16, 64].flatMap((connections) => [
    atLeast(6, `requests/s at ${connections} connections, against portkey`, (of) =>
      ratio(of, `json${connections}.rps`, 'portkey'),
    ),
    atLeast(0.45, `requests/s at ${connections} connections, against the hop`, (of) =>
      ratio(of, `json${connections}.rps`, 'hop'),
    ),
  ]),
  atMost(2, "added p50 at a steady 200 requests/s, against the hop's", (of) =>
    addedRatio(of, 'steady.p50'),
  ),
  { ...atMost(3, 'added first-token time', (of) => added(of, 'first.token')), unit: ' ms' },
  atLeast(0.98, '500 streams: chunks/s, against direct', (of) =>
    ratio(of, 'streams.rate', 'direct'),
  ),
  atMost(3, '500 streams: relay p50, against the hop', (of) =>
    ratio(of, 'streams.relay.p50', 'hop'),
  ),
  atMost(3, '500 streams: first token, against the hop', (of) => ratio(of, 'streams.first', 'hop')),
  atLeast(1, 'flood: chunks/s, against the hop', (of) => ratio(of, 'flood.rate', 'hop')),
  atMost(2, 'coordinator CPU a request, against the hop', (of) =>
    cpuRatio(of, 'json16', 'coordinator'),
  ),
  atMost(1.2, 'agent CPU a request, against the hop', (of) => cpuRatio(of, 'json16', 'agent')),
  atMost(1.5, 'coordinator CPU a streamed chunk, against the hop', (of) =>
    cpuRatio(of, 'streams', 'coordinator'),
  ),
  {
    ...atMost(150, 'coordinator RSS with 500 streams', (of) =>
      of('gateway', 'streams.rss.coordinator'),
    ),
    unit: ' MB',
  },
  atMost(1.15, 'coordinator RSS after many requests, against after 1,000', (of) => {
    return of('gateway', 'memory.many.coordinator') / of('gateway', 'memory.few.coordinator');
  }),
];

function added(of: Read, metric: string, subject = 'gateway'): number {
  return of(subject, metric) - of('direct', metric);
}

function addedRatio(of: Read, metric: string): number {
  return added(of, metric) / added(of, metric, 'hop');
}

function cpuRatio(of: Read, phase: string, program: 'coordinator' | 'agent'): number {
  return of('gateway', `${phase}.cpu.${program}`) / of('hop', `${phase}.cpu.hop`);
}
