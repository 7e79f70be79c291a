/** Claims on their way to a run, and the events that may overtake them. */
import {
  bodyBudget,
  MAX_ANSWER_BYTES,
} from '@inference-gateway/coordinator/core/usage/held-document';
import type { AssetLibrary } from '@inference-gateway/coordinator/assets/asset-library';
import type { Budget } from '@inference-gateway/coordinator/core/usage/budget';
import type {
  ExchangeHandler,
  OpenRequest,
} from '@inference-gateway/coordinator/core/routing/links';
import { JobRuns } from '@inference-gateway/coordinator/jobs/claims';
import { JobSinks } from '@inference-gateway/coordinator/jobs/sinks';
import type { ClaimedJob, Store } from '@inference-gateway/coordinator/store/port';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { beforeEach, expect, it } from 'vitest';
import { makeChoice } from '../../support/candidate.js';
import { runningJob } from '../../store/dispatch-rows.js';
import { openLibrary } from '../../support/open-library.js';
import { until } from '../../support/until.js';

const DEN = { providerId: 'den', providerName: 'den-pc', linkId: 'link' };
const LIMITS = { maxJsonBytes: 1_000, maxBodyMemoryBytes: 1_000_000 };
const CHOSEN = makeChoice(DEN);

let store: Store;
let runs: JobRuns;
let claimed: ClaimedJob;
let budget: Budget;

beforeEach(async () => {
  const opened = await openLibrary();
  const { library, anna } = opened;
  ({ store } = opened);
  budget = bodyBudget(LIMITS);
  runs = new JobRuns({
    store,
    links: { report: () => {}, candidates: () => [] },
    sinks: sinksOf(library, budget),
    budget,
    deadlines: { jobDeadlineMs: 60_000, jobImageDeadlineMs: 60_000, jobFilmDeadlineMs: 60_000 },
    logger: createLogger('silent'),
    now: Date.now,
    onStart: () => {},
    onChange: () => {},
  });
  claimed = await runningJob(store, anna);
});

it('a job that is canceled before its run begins is never sent, and its slot is free', async () => {
  const did: string[] = [];
  const reservation = {
    open: () => {
      did.push('open');
      return null;
    },
    release: () => void did.push('release'),
  };
  runs.cancel(claimed.claimId);
  runs.start(claimed, Buffer.from('{}'), { choice: CHOSEN, reservation });
  await until(() => runs.underWay === 0);
  expect(did).toEqual(['release']);
});

it('a claim that is canceled while its agent brings it back is to be dropped', async () => {
  runs.cancel(claimed.claimId);
  expect(await runs.resume(claimed, DEN, 'continue')).toEqual({
    claimId: claimed.claimId,
    action: 'discard',
  });
  expect(runs.underWay).toBe(0);
});

it('a member may hold half of the memory for text answers', async () => {
  const { library } = await openLibrary();
  const limits = { maxJsonBytes: 0, maxBodyMemoryBytes: 2 * MAX_ANSWER_BYTES };
  const sinks = sinksOf(library, bodyBudget(limits));
  const other = { ...claimed.job, memberId: 'ben' };
  const [first, second, third] = await Promise.all(
    [claimed.job, claimed.job, other].map((job) => sinks.open(job, null)),
  );
  const whole = Buffer.alloc(MAX_ANSWER_BYTES);
  expect(first?.data(whole, () => {})).toBeNull();
  expect(second?.data(Buffer.alloc(1), () => {})).toMatchObject({ code: 'capacity_exhausted' });
  second?.discard();
  expect(third?.data(whole, () => {})).toBeNull();
});

it('a claim on a newer link outlives the end of the older one', async () => {
  const older = await runs.resume(claimed, DEN, 'continue');
  const newer = await runs.resume(claimed, { ...DEN, linkId: 'newer' }, 'continue');
  if (older.action === 'discard' || newer.action === 'discard') throw new Error('discarded');
  older.handler.fail({ kind: 'disconnected' });
  await store.findJob(claimed.job.id, null);
  expect(runs.has(claimed.claimId)).toBe(true);
  newer.handler.fail({ kind: 'disconnected' });
  await until(() => !runs.has(claimed.claimId));
});

const EXCHANGE = { consumed: () => {}, cancel: () => {}, acknowledge: () => {} };

it('a request counts as held until its agent has accepted it', async () => {
  let handler: ExchangeHandler | null = null;
  const reservation = {
    open: (_: OpenRequest, told: ExchangeHandler) => {
      handler = told;
      return EXCHANGE;
    },
    release: () => {},
  };
  const opened = (): ExchangeHandler | null => handler;
  runs.start(claimed, Buffer.from('{}'.padEnd(1_000)), { choice: CHOSEN, reservation });
  const told = await until(() => opened());
  expect(runs.unsentBytes).toBe(1_000);
  expect(budget.freeBytes).toBe(999_000);
  told.accepted();
  expect(runs.unsentBytes).toBe(0);
  expect(budget.freeBytes).toBe(1_000_000);
  told.fail({ kind: 'disconnected' });
  await until(() => runs.underWay === 0);
  expect(runs.unsentBytes).toBe(0);
});

it('a run that was lost and found again has no second deadline', async () => {
  const stopped: string[] = [];
  const found = await runs.resume({ ...claimed, runDeadline: null }, DEN, 'continue');
  if (found.action === 'discard') throw new Error('discarded');
  // It started more than a minute ago.
  expect(Date.now() - (claimed.job.startedAt ?? 0)).toBeGreaterThan(60_000);
  found.begin({ ...EXCHANGE, cancel: (code) => void stopped.push(code) });
  await until(() => stopped.length > 0);
  expect(stopped).toEqual(['DEADLINE']);
});

it('a finished answer stays with its agent where the database is not to be had', async () => {
  const item = { endpoint: 'images', model: 'sdxl' } as const;
  const painting = await runningJob(store, claimed.job.memberId, { item });
  await store.close();
  const refused = { code: 'storage_unavailable' };
  await expect(runs.resume(painting, DEN, 'upload')).rejects.toMatchObject(refused);
  expect(runs.underWay).toBe(0);
});

/** No job of these tests is translated. */
const translate = () => Promise.reject(new Error('a job was translated'));

function sinksOf(library: AssetLibrary, budget: Budget): JobSinks {
  return new JobSinks({ library, maxImages: 1, budget, translate });
}
