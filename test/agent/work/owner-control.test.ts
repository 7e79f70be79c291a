/** The owner's orders, when they come at once. */
import { Catalog } from '@inference-gateway/agent/backends/catalog';
import { PauseFile } from '@inference-gateway/agent/state/pause-file';
import { HeldClaims } from '@inference-gateway/agent/work/held-claims';
import { OwnerControl } from '@inference-gateway/agent/work/owner-control';
import { WorkRunner } from '@inference-gateway/agent/work/runner';
import { Spool } from '@inference-gateway/agent/work/spool';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const FOREVER = { until: null, now: false };

async function newOwner() {
  const logger = createLogger('silent');
  const claims = new HeldClaims(new Spool({ folder: null, logger }), logger);
  const runner = new WorkRunner(new Catalog([]), claims, logger);
  const file = new PauseFile(await temporaryFolder());
  const owner = new OwnerControl({ runner, claims, file, changed: () => {} });
  onTestFinished(() => owner.close());
  return { owner, file };
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

test('of two pauses the later one counts', async () => {
  const { owner, file } = await newOwner();
  const until = Date.now() + 3_600_000;
  await Promise.all([owner.pause(FOREVER), owner.pause({ until, now: false })]);
  expect(owner.pausedUntil).toBe(until);
  expect(await file.read()).toEqual({ until });
});
