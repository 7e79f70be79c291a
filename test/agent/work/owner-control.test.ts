/** The owner's concurrent orders, together with all other reasons to refuse others' work. */
import { Catalog } from '@inference-gateway/agent/backends/catalog/catalog';
import { PauseFile } from '@inference-gateway/agent/state/pause-file';
import { HeldClaims } from '@inference-gateway/agent/work/held-claims';
import { Ledger } from '@inference-gateway/agent/work/ledger';
import { OwnerControl } from '@inference-gateway/agent/work/owner-control';
import { WorkRunner } from '@inference-gateway/agent/work/runner';
import { Spool } from '@inference-gateway/agent/work/spool';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const FOREVER = { until: null, now: false };
/** Of some day in UTC. */
const NOON = Date.UTC(2030, 0, 15, 12);
const HOUR_MS = 3_600_000;
const AT_NIGHT = { from: 22 * 60, until: 7 * 60, timeZone: 'UTC' };
const GAME = { program: 'game' };

interface World {
  /** Unix ms. */
  now: number;
  intruder: { program: string | null } | null;
}

type Settings = Pick<ConstructorParameters<typeof OwnerControl>[0], 'hours'> & {
  readonly running?: 'yield' | 'finish';
};

async function newOwner({ hours = null, running = 'yield' }: Settings = {}) {
  const logger = createLogger('silent');
  const { now } = SYSTEM_CLOCK;
  const claims = new HeldClaims({ spool: new Spool({ folder: null, now, logger }), now, logger });
  const ledger = new Ledger({ file: null, clock: SYSTEM_CLOCK, logger });
  const runner = new WorkRunner({ catalog: new Catalog([]), claims, ledger, now, logger });
  const file = new PauseFile(await temporaryFolder());
  const world: World = { now: NOON, intruder: null };
  const told: string[] = [];
  const owner = new OwnerControl({
    runner,
    claims,
    file,
    hours,
    card: { intruder: () => world.intruder, running },
    changed: () => told.push(owner.accepts),
    now: () => world.now,
  });
  onTestFinished(() => owner.close());
  const stopped: string[] = [];
  runner.stop = (reason) => void stopped.push(reason);
  return { owner, file, world, told, stopped };
}

test('of a pause and a resume the later one counts, on disk, too', async () => {
  const { owner, file } = await newOwner();
  await Promise.all([owner.pause(FOREVER), owner.resume()]);
  expect(owner.accepts).toBe('all');
  expect(await file.read()).toBeNull();
  await Promise.all([owner.resume(), owner.pause(FOREVER)]);
  expect(owner.accepts).toBe('own');
  expect(await file.read()).toEqual({ until: null });
});

test('an order that comes before the last pause is read counts', async () => {
  const { owner } = await newOwner();
  await Promise.all([owner.restore(), owner.pause(FOREVER)]);
  expect(owner.accepts).toBe('own');
  const { owner: other, file } = await newOwner();
  await file.write({ until: null });
  await Promise.all([other.restore(), other.resume()]);
  expect(other.accepts).toBe('all');
});

test('a pause that the disk does not take holds all the same, and its owner is told', async () => {
  const { owner, file } = await newOwner();
  file.write = () => Promise.reject(new Error('ENOSPC: no space left on device'));
  await expect(owner.pause(FOREVER)).rejects.toThrow(
    'paused, but only until the agent ends: the pause cannot be kept (ENOSPC',
  );
  expect(owner.accepts).toBe('own');
});

test('of two pauses the later one counts', async () => {
  const { owner, file } = await newOwner();
  const end = { until: NOON + HOUR_MS };
  await Promise.all([owner.pause(FOREVER), owner.pause({ ...end, now: false })]);
  expect(owner.pausedUntil).toBe(end.until);
  expect(await file.read()).toEqual(end);
});

test('when the card is taken only the owner’s work is let in, and who has it is told', async () => {
  const { owner, world, told } = await newOwner();
  await owner.restore();
  world.intruder = GAME;
  owner.cardChanged();
  expect(owner.reason).toEqual({ kind: 'card_in_use', program: 'game' });
  expect([owner.accepts, owner.pausedUntil]).toEqual(['own', null]);
  world.intruder = null;
  owner.cardChanged();
  expect([owner.accepts, owner.reason]).toEqual(['all', null]);
  expect(told).toEqual(['own', 'all']);
});

test.each([
  ['yield', ['yielded']],
  ['finish', []],
] as const)('what runs for others then: %s', async (running, expected) => {
  const { owner, world, stopped } = await newOwner({ running });
  world.intruder = GAME;
  owner.cardChanged();
  owner.cardChanged();
  expect(stopped).toEqual(expected);
});

test('what a pause lets finish is handed back when the card is taken', async () => {
  const { owner, world, stopped } = await newOwner();
  await owner.pause(FOREVER);
  expect(stopped).toEqual([]);
  world.intruder = GAME;
  owner.cardChanged();
  expect(stopped).toEqual(['yielded']);
  expect(owner.reason).toEqual({ kind: 'paused', until: null });
});

test('resume ends the pause, and neither the use of the card nor the hours', async () => {
  const { owner, world } = await newOwner({ hours: AT_NIGHT });
  world.intruder = GAME;
  await owner.pause(FOREVER);
  await owner.resume();
  expect(owner.reason).toEqual({ kind: 'card_in_use', program: 'game' });
  world.intruder = null;
  owner.cardChanged();
  expect(owner.reason).toEqual({ kind: 'outside_hours', hours: '22:00-07:00 UTC' });
  expect(owner.accepts).toBe('own');
});

test('a drain lets in nothing, whatever else holds', async () => {
  const { owner, world } = await newOwner({ hours: AT_NIGHT });
  world.intruder = GAME;
  expect(await owner.drain(1_000)).toBe(true);
  expect([owner.accepts, owner.reason]).toEqual(['none', { kind: 'draining' }]);
});

test('the end of a drain alone leaves the pause, on disk, too', async () => {
  const { owner, file } = await newOwner();
  await owner.pause({ until: NOON + HOUR_MS, now: false });
  await owner.drain(1_000);
  owner.undrain();
  expect(owner.reason).toEqual({ kind: 'paused', until: NOON + HOUR_MS });
  expect(await file.read()).toEqual({ until: NOON + HOUR_MS });
});

test('the hours open and close by the clock, also where it jumps', async () => {
  const { owner, world } = await newOwner({ hours: AT_NIGHT });
  await owner.restore();
  expect(owner.accepts).toBe('own');
  world.now = NOON + 10 * HOUR_MS - 5;
  owner.cardChanged();
  world.now = NOON + 10 * HOUR_MS;
  await until(() => owner.accepts === 'all');
  world.now = NOON + 19 * HOUR_MS - 5;
  owner.cardChanged();
  world.now = NOON + 19 * HOUR_MS;
  await until(() => owner.accepts === 'own');
});

test('a pause within the hours ends into what then holds', async () => {
  const { owner, world, file } = await newOwner({ hours: AT_NIGHT });
  await owner.pause({ until: NOON + 5, now: false });
  expect(owner.pausedUntil).toBe(NOON + 5);
  world.now = NOON + 5;
  await until(() => owner.reason?.kind === 'outside_hours');
  await until(async () => (await file.read()) === null);
});
