/**
 * The content of `/metrics`. Names of callers are not labels: there would be one series per person,
 * and readers of the graphs must not see them.
 */
import { AGENT_VERSION } from '../own-files.js';
import { JOULES_A_WH, RUN_OUTCOMES } from '../work/run-record.js';
import type { Tally } from '../work/ledger.js';
import type { AgentStatus } from '../agent.js';

export function agentMetrics(status: StatusFacts, tally: Tally): Metric[] {
  return [...linkMetrics(status), ...serviceMetrics(status, tally), ...gpuMetrics(status)];
}

function linkMetrics({ connection, running, accepts, spoolBytes }: StatusFacts): Metric[] {
  const states = (['all', 'own', 'none'] as const).map((state) => ({
    labels: { state },
    value: accepts === state ? 1 : 0,
  }));
  return [
    gauge('build_info', 'The running version.', [{ labels: { version: AGENT_VERSION }, value: 1 }]),
    gauge('online', 'Whether the coordinator has registered this agent.', [
      { value: connection === 'online' ? 1 : 0 },
    ]),
    gauge('running', 'Runs under way.', [{ value: running }]),
    gauge('accepts', 'Whose work is let in: 1 at the state that holds.', states),
    gauge('spool_bytes', 'Answers that the coordinator has not confirmed.', [
      { value: spoolBytes },
    ]),
  ];
}

function serviceMetrics({ services }: StatusFacts, tally: Tally): Metric[] {
  const ids = services.map(({ id }) => id);
  const each = (value: (id: string) => number): Sample[] =>
    ids.map((service) => ({ labels: { service }, value: value(service) }));
  const up = services.map(({ id: service, state }) => ({
    labels: { service },
    value: state === 'up' ? 1 : 0,
  }));
  const energy = ids.flatMap((service) => {
    const { energyWh } = tally.sums(service);
    return energyWh === null ? [] : [{ labels: { service }, value: energyWh * JOULES_A_WH }];
  });
  return [
    gauge('service_up', 'Whether the local server answers.', up),
    counter('requests_total', 'Runs that have ended.', requests(ids, tally)),
    counter('tokens_total', 'As the local servers count them.', tokens(ids, tally)),
    counter(
      'run_seconds_total',
      'That runs have taken.',
      each((id) => tally.sums(id).seconds),
    ),
    counter('energy_joules_total', "The runs' share of what the cards took.", energy),
  ];
}

function requests(ids: readonly string[], tally: Tally): Sample[] {
  const kinds = ['sync', 'job'] as const;
  return ids.flatMap((service) =>
    kinds.flatMap((kind) =>
      RUN_OUTCOMES.map((outcome) => ({
        labels: { service, kind, outcome },
        value: tally.requests(service, kind, outcome),
      })),
    ),
  );
}

function tokens(ids: readonly string[], tally: Tally): Sample[] {
  return ids.flatMap((service) => {
    const { promptTokens, completionTokens } = tally.sums(service);
    return [
      { labels: { service, type: 'prompt' }, value: promptTokens },
      { labels: { service, type: 'completion' }, value: completionTokens },
    ];
  });
}

function gpuMetrics({ gpus }: StatusFacts): Metric[] {
  const known = (read: (gpu: StatusFacts['gpus'][number]) => number | null): Sample[] =>
    gpus.flatMap((gpu, index) => {
      const value = read(gpu);
      return value === null ? [] : [{ labels: { gpu: String(index) }, value }];
    });
  return [
    gauge(
      'gpu_use_ratio',
      'How busy the card is, 0 to 1.',
      known(({ usePercent }) => (usePercent === null ? null : usePercent / 100)),
    ),
    gauge(
      'gpu_memory_used_bytes',
      'By all programs.',
      known(({ memoryUsedMib }) => bytesOf(memoryUsedMib)),
    ),
    gauge(
      'gpu_memory_bytes',
      'That the card has.',
      known(({ memoryMib }) => bytesOf(memoryMib)),
    ),
    gauge(
      'gpu_power_watts',
      'What the card takes now.',
      known(({ powerWatts }) => powerWatts),
    ),
  ];
}

const MIB_BYTES = 1_048_576;

function bytesOf(mib: number | null): number | null {
  return mib === null ? null : mib * MIB_BYTES;
}

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name: `gateway_agent_${name}`, help, type: 'gauge', samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name: `gateway_agent_${name}`, help, type: 'counter', samples };
}

// Prometheus' text format 0.0.4, which is simple enough to write without a library.
interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Metric {
  readonly name: string;
  /** One line. */
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** Empty: unknown now, and omitted. */
  readonly samples: readonly Sample[];
}

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function exposition(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}\n`,
      `# TYPE ${name} ${type}\n`,
      ...samples.map(({ labels, value }) => `${name}${labelsText(labels)} ${value}\n`),
    ])
    .join('');
}

function labelsText(labels: Sample['labels'] = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

type Service = Pick<AgentStatus['services'][number], 'id' | 'state' | 'reason' | 'models'>;

/** The only facts of the agent's status that are published here. */
export interface StatusFacts extends Pick<
  AgentStatus,
  'name' | 'connection' | 'reason' | 'running' | 'accepts' | 'gpus' | 'spoolBytes'
> {
  readonly services: readonly Service[];
}
