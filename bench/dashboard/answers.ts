/** How long the coordinator takes for what the screens ask, with much in its tables. */
import type { DashboardRound } from './dashboard-round.js';
import type { FullGateway } from './full-gateway.js';
import { cookieOf } from './members.js';

const CONSOLE = '/api/console/v1';
const MONTH = { since_s: 29 * 86_400 };
const RECEIVED = { given: false, by: 'model', ...MONTH };
/** Of everybody, for administrators. */
const OF_ALL = { by: 'model', user: null, ...MONTH };
const BY_HOUR = { step: 'hour', since_s: 167 * 3_600 };

export interface Question {
  readonly says: string;
  readonly path: (gateway: FullGateway) => string;
  readonly isAdmins?: true;
}

/** By metric. */
export const QUESTIONS: Readonly<Record<string, Question>> = {
  jobs: { says: 'jobs, first page of 100', path: () => `${CONSOLE}/jobs?limit=100` },
  jobsActive: { says: 'jobs, active', path: () => `${CONSOLE}/jobs?limit=100&active=1` },
  jobsFailed: { says: 'jobs, FAILED', path: () => `${CONSOLE}/jobs?limit=100&status=FAILED` },
  jobsAfter: {
    says: 'jobs, 100 from the middle',
    path: ({ middleJob }) => `${CONSOLE}/jobs?limit=100&after=${middleJob}`,
  },
  queue: { says: 'queue summary', path: () => '/api/inference/queue/summary' },
  queueGroups: { says: 'queue.groups', path: () => my('queue.groups', {}) },
  models: { says: 'models', path: () => `${CONSOLE}/models` },
  modelList: { says: 'model.list', path: () => my('model.list', {}) },
  home: { says: 'home.show', path: () => my('home.show', {}) },
  stats: { says: 'stats.show, a month by model', path: () => my('stats.show', RECEIVED) },
  statsKey: {
    says: 'stats.show, a month by key',
    path: () => my('stats.show', { ...RECEIVED, by: 'key' }),
  },
  series: { says: 'usage.series, a month by model', path: () => my('usage.series', RECEIVED) },
  hours: {
    says: 'usage.series, 7 days by hour and model',
    path: () => my('usage.series', { ...RECEIVED, ...BY_HOUR }),
  },
  recent: {
    says: 'usage.recent, 25',
    path: () => my('usage.recent', { limit: 25, after: null }),
  },
  allStats: {
    says: "admin's stats.show, a month of everybody by model",
    path: () => `${CONSOLE}/admin/stats.show?args=${json(OF_ALL)}`,
    isAdmins: true,
  },
  allSeries: {
    says: "admin's usage.series, a month of everybody by model",
    path: () => `${CONSOLE}/admin/usage.series?args=${json(OF_ALL)}`,
    isAdmins: true,
  },
  allHours: {
    says: "admin's usage.series, 7 days of everybody by hour and model",
    path: () => `${CONSOLE}/admin/usage.series?args=${json({ ...OF_ALL, ...BY_HOUR })}`,
    isAdmins: true,
  },
  live: {
    says: "admin's stats.live",
    path: () => `${CONSOLE}/admin/stats.live`,
    isAdmins: true,
  },
};

/** The first time is for the compiler and for the database's cache, and is not counted. */
const WARM_READS = 20;

export async function answersPhase(round: DashboardRound, gateway: FullGateway): Promise<void> {
  const { samples, generator, size } = round;
  round.say('answers of a full gateway');
  for (const [metric, { path, isAdmins }] of Object.entries(QUESTIONS)) {
    const cookie = cookieOf(isAdmins === true ? gateway.admin : gateway.session);
    const target = { origin: gateway.origin, headers: { cookie } };
    const paths = (count: number) => Array.from({ length: count }, () => path(gateway));
    await generator.run({ kind: 'reads', target, paths: paths(WARM_READS) });
    const { latencyMs } = await generator.run({ kind: 'reads', target, paths: paths(size.reads) });
    samples.add('gateway', `answer.${metric}.p50`, latencyMs.p50);
    samples.add('gateway', `answer.${metric}.p99`, latencyMs.p99);
    samples.add('gateway', `answer.${metric}.kb`, await sizeKb(target, path(gateway)));
  }
}

async function sizeKb(target: { origin: string; headers: { cookie: string } }, path: string) {
  const response = await fetch(`${target.origin}${path}`, { headers: target.headers });
  return (await response.arrayBuffer()).byteLength / 1_024;
}

function my(name: string, args: object): string {
  return `${CONSOLE}/my/${name}?args=${json(args)}`;
}

function json(args: object): string {
  return encodeURIComponent(JSON.stringify(args));
}
