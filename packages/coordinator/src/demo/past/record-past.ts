/** Records the demo's history: a month of usage and some days of jobs. */
import { openByteStore } from '../../assets/folder-store.js';
import type { Store } from '../../store/port.js';
import type { MemberName } from '../cast.js';
import { Random } from '../random.js';
import type { Scene } from '../scene.js';
import { PICTURES } from '../topics.js';
import { imageOf, requestFor } from '../requests.js';
import type { RequestKind } from '../requests.js';
import type { PastJob, Past } from './past-jobs.js';
import { submitAndEnd, submitBatchAndEnd } from './past-jobs.js';
import { recordPastUsage } from './past-usage.js';

const SEED = 7;
const HOUR_MS = 3_600_000;
const JOBS = 36;
const JOBS_APART_MS = 1.7 * HOUR_MS;
/** One job in this many fails, except the newest ones. */
const FAILED_EVERY = 9;
const CANCELED_EVERY = 13;
const SUMMARIES = 20;
const SUMMARIES_AGO_MS = 9 * HOUR_MS;
const DRAWINGS = 4;
const DRAWINGS_AGO_MS = 5 * HOUR_MS;

/** The members that submit jobs, in turn. */
const WHO: readonly MemberName[] = ['Anna', 'Ben', 'Anna', 'Chiara', 'Anna', 'Dov', 'Emi'];
const WHAT: readonly RequestKind[] = ['chat', 'chat', 'speech', 'chat', 'chat', 'image', 'chat'];

/** Models that they asked for and no machine has. */
const WANTED: readonly (readonly [string, readonly MemberName[]])[] = [
  ['qwen3-coder:30b', ['Anna', 'Ben', 'Chiara', 'Emi']],
  ['gpt-oss:20b', ['Ben', 'Dov', 'Emi']],
];

/** A recent backup, so that the console shows no warning to the admin. */
const BACKUP = {
  action: 'backup.create',
  subject: { kind: 'backup', id: 'backup', name: '/backup/gateway.tar' },
  before: null,
  after: { target: '/backup/gateway.tar', bytes: 48_000_000 },
};

export interface PastOptions {
  readonly scene: Scene;
  readonly dataDir: string;
  readonly retentionMs: number;
  readonly now: number;
}

export async function recordPast(store: Store, options: PastOptions): Promise<void> {
  const { scene, dataDir, retentionMs, now } = options;
  recordPastUsage(store, scene, now);
  for (const [model, members] of WANTED) {
    for (const name of members) store.noteWanted({ memberId: scene.members[name].id, model });
  }
  await store.recordAudit(BACKUP);
  const files = openByteStore(dataDir);
  const past = { store, files, scene, random: new Random(SEED), retentionMs };
  await Promise.all([...singleJobs(past, now), summaries(past, now), drawings(past, now)]);
}

function singleJobs(past: Past, now: number): Promise<void>[] {
  return Array.from({ length: JOBS }, (_, index) => {
    const at = now - (index + 0.2) * JOBS_APART_MS;
    return submitAndEnd(past, jobAt(past, index), Math.round(at));
  });
}

/** Music is shared with few members, so only they submit its jobs. */
function jobAt({ random }: Past, index: number): PastJob {
  const member = WHO[index % WHO.length] ?? 'Anna';
  const turn = index + Math.floor(index / WHO.length);
  const kind = WHAT[turn % WHAT.length] ?? 'chat';
  const request = requestFor(member === 'Chiara' ? 'music' : kind, random);
  const place = index + 1;
  if (place % FAILED_EVERY === 0) return { ...request, member, ending: 'failed' };
  return { ...request, member, ending: place % CANCELED_EVERY === 0 ? 'canceled' : 'done' };
}

function summaries(past: Past, now: number): Promise<void> {
  const job = (index: number): PastJob => {
    const request = requestFor('chat', past.random);
    return { ...request, member: 'Anna', ending: index === SUMMARIES - 3 ? 'failed' : 'done' };
  };
  const others = Array.from({ length: SUMMARIES - 1 }, (_, index) => job(index + 1));
  const at = now - SUMMARIES_AGO_MS;
  return submitBatchAndEnd(past, 'Nightly summaries', { jobs: [job(0), ...others], at });
}

function drawings(past: Past, now: number): Promise<void> {
  const [first, ...others] = PICTURES.slice(0, DRAWINGS).map((prompt): PastJob => ({
    ...imageOf(prompt),
    member: 'Anna',
    ending: 'done',
  }));
  if (first === undefined) return Promise.resolve();
  const at = now - DRAWINGS_AGO_MS;
  return submitBatchAndEnd(past, 'Postcards', { jobs: [first, ...others], at });
}
