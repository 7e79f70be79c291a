import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CALM, drawHomes, popularModels } from '../../bench/fleet/home-plan.js';
import type { Neighbourhood } from '../../bench/fleet/home-plan.js';
import { getJob } from '../api/job-calls.js';
import { chat, post } from '../api/requests.js';
import { allOnline, enrollOn, HOME, newFleet } from '../support/fleet-stage.js';
import { HealthWatch } from '../support/health-watch.js';
import { MIB, rssOf } from '../support/memory.js';
import { expectIdle, expectSound, FULL, newStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';
import { FleetCallers } from './fleet-callers.js';

const ENDED = ['PROCESSED', 'FAILED'];
const CALLERS = 8;

/** Most homes leave now and then; some have a slow line or a card that fails. */
const WILD: Neighbourhood = {
  ...CALM,
  seed: 20,
  homes: FULL ? 1_000 : 40,
  popularModels: FULL ? 40 : 6,
  firstByteMs: [5, 100],
  tokensPerSecond: [50, 500],
  tokens: 20,
  slowShare: 0.1,
  failingHomes: 0.2,
  leavingHomes: 0.7,
  leaves: FULL ? { everyMs: 20_000, awayMs: 5_000 } : { everyMs: 2_000, awayMs: 500 },
};
const CHAOS_MS = FULL ? 120_000 : 6_000;
/** Of the time, so much passes before the memory is measured against which it may not grow. */
const WARM_SHARE = 0.5;
const MOST_GROWTH = 64 * MIB;

test(
  `${WILD.homes} homes that drop, sleep, restart and fail at random cost no job and no answer`,
  async () => {
    const gateway = await newStage({
      GATEWAY_JOB_LEASE_S: '2',
      GATEWAY_JOB_MAX_ATTEMPTS: '20',
      GATEWAY_SYNC_WAIT_S: '2',
    });
    const homes = await enrollOn(gateway, drawHomes(WILD));
    const { child } = await gateway.startCoordinator();
    const fleet = newFleet(homes, gateway.url, WILD.seed);
    fleet.wakeAll();
    await until(() => fleet.counts.links >= WILD.homes, { what: 'the first homes online' });
    const watch = new HealthWatch(gateway);
    const callers = new FleetCallers(gateway, asked(), CALLERS);
    await pause(CHAOS_MS * WARM_SHARE);
    const warm = await rssOf(child.pid);
    await pause(CHAOS_MS * (1 - WARM_SHARE));
    // Else nothing has been shown.
    await until(() => fleet.counts.links > WILD.homes * 1.5, { what: 'homes that came back' });
    await callers.stop();
    const most = warm + MOST_GROWTH;
    await until(async () => (await rssOf(child.pid)) < most, {
      what: `less than ${most} bytes`,
    });
    const { ends, failed, answered } = fleet.counts;
    expect(Object.keys(ends)).toEqual(['1006']);
    expect([failed, answered].every((count) => count > 0)).toBe(true);
    expect(callers.faults).toEqual([]);
    expect(callers.outcomes.get('ok')).toBeGreaterThan(callers.answered / 2);
    fleet.settle();
    await allOnline(fleet);
    expect(await gateway.online()).toHaveLength(WILD.homes);
    await everyJobEnds(gateway, callers.jobs);
    await watch.stop();
    expect(child.exitCode).toBeNull();
    expectSound(gateway);
  },
  FULL ? 600_000 : 90_000,
);

const DROPPED = FULL ? 1_000 : 150;
const STREAMS = 5;
const TOKEN_MS = 20;
/**
 * The homes and their callers are one process here, which has its own part in a gap. In `npm run
 * bench -- fleet` each has its own.
 */
const LONGEST_GAP_MS = FULL ? 250 : 1_000;

test(
  `${DROPPED} homes that drop at once come back, and the streams of another go on`,
  async () => {
    const gateway = await newStage();
    const plans = drawHomes({ ...CALM, homes: DROPPED });
    const card = { ...HOME.card, tokensPerSecond: 1_000 / TOKEN_MS, tokens: 1_000_000 };
    const steady = { ...HOME, name: 'steady', slots: STREAMS, card };
    const [other, ...homes] = await enrollOn(gateway, [steady, ...plans]);
    if (other === undefined) throw new Error('the steady home is not enrolled');
    await gateway.startCoordinator();
    const [unaffected, fleet] = [newFleet([other], gateway.url), newFleet(homes, gateway.url)];
    await Promise.all([allOnline(unaffected), allOnline(fleet)]);
    const own = monitorEventLoopDelay({ resolution: 1 });
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(gateway)));
    own.enable();
    const { links } = fleet.counts;
    fleet.dropAll();
    await until(() => fleet.counts.links === links + DROPPED, {
      timeoutMs: 60_000,
      what: 'all homes to come back',
    });
    own.disable();
    expect(await gateway.online()).toHaveLength(DROPPED + 1);
    const ownMs = own.max / 1e6;
    for (const { longestGapMs } of await Promise.all(streams.map(({ stop }) => stop()))) {
      // It may be late to say a token, and late to hear one.
      expect(longestGapMs).toBeLessThan(LONGEST_GAP_MS + 2 * ownMs);
    }
    expect(unaffected.counts).toMatchObject({ links: 1, failed: 0, ends: {} });
  },
  FULL ? 180_000 : 60_000,
);

function asked(): [string, ...string[]] {
  const [first = '', ...others] = popularModels(WILD);
  return [first, ...others];
}

/** Reads a stream until it is stopped; the stream has begun when this resolves. */
async function openStream(gateway: Stage) {
  const leaving = new AbortController();
  const { signal } = leaving;
  const { body, status } = await post(gateway, chat({ model: 'm', stream: true }), { signal });
  expect(status).toBe(200);
  const reader = body?.getReader();
  await reader?.read();
  let longestGapMs = 0;
  let bytes = 0;
  const read = async (): Promise<void> => {
    for (let lastAt = performance.now(); !signal.aborted; lastAt = performance.now()) {
      const piece = await reader?.read();
      if (piece?.done === true) throw new Error('the stream has ended');
      bytes += piece?.value?.length ?? 0;
      longestGapMs = Math.max(longestGapMs, performance.now() - lastAt);
    }
  };
  const reading = read().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  const stop = async () => {
    leaving.abort();
    await reading;
    expect(bytes).toBeGreaterThan(0);
    return { longestGapMs };
  };
  return { stop };
}

/** Each that was acknowledged is there, and ends; what waits for its next attempt begins it. */
async function everyJobEnds(gateway: Stage, jobs: ReadonlySet<string>): Promise<void> {
  const rows = () => query<{ id: string; status: string }>(gateway, 'select id, status from jobs');
  const haveEnded = async (): Promise<boolean> => {
    const open = rows().filter(({ status }) => !ENDED.includes(status));
    if (open.some(({ status }) => status === 'QUEUED')) await gateway.requeue();
    return open.length === 0;
  };
  await until(haveEnded, { timeoutMs: 120_000, what: 'all jobs to end' });
  expect(new Set(rows().map(({ id }) => id))).toEqual(jobs);
  const processed = rows().filter(({ status }) => status === 'PROCESSED');
  expect(processed.length).toBeGreaterThan(jobs.size * 0.9);
  const [one] = processed;
  const job = await getJob(gateway, one?.id ?? '');
  expect(job.result?.choices).toHaveLength(1);
  await expectIdle(gateway, job.model);
}
