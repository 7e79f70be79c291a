import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accepted } from '../api/job-calls.js';
import { post } from '../api/requests.js';
import { startQuickModel } from '../support/held-model.js';
import { filesBelow } from '../support/open-library.js';
import { expectSound, newStage, serviceOf } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';

const DYING = new URL('dying-coordinator.js', import.meta.url);
const TWO_HOURS_S = 7_200;

/** Anna has a file, its signed link, and a queued job; the coordinator dies on deleting her. */
async function killWhileDeleting(moment: string): Promise<{ gateway: Stage; link: string }> {
  const server = await startQuickModel();
  const gateway = await newStage({ GATEWAY_ASSETS_ACCESS: 'link' });
  const first = await gateway.startCoordinator({ file: DYING, args: [moment] });
  await gateway.joined('pc', [serviceOf(server, ['sd'], { type: 'image' })]);
  const image = { model: 'sd', prompt: 'a cat' };
  const path = '/v1/images/generations';
  const answer = await post(gateway, image, { path });
  const { data } = (await answer.json()) as { data: readonly [{ url: string }] };
  const link = data[0].url;
  expect((await fetch(link)).status).toBe(200);
  await gateway.admin('queue', 'pause');
  await accepted(await post(gateway, { ...image, async: true }, { path }));
  const deleted = await gateway.admin('user', 'delete', 'Anna', '--yes');
  expect(deleted.code).not.toBe(0);
  await first.finished;
  expect(await filesBelow(gateway.dataDir)).toHaveLength(1);
  return { gateway, link };
}

async function expectNothingReachable(gateway: Stage, link: string): Promise<void> {
  expect((await fetch(link)).ok).toBe(false);
  expect((await gateway.fetch(new URL(link).pathname)).status).toBe(401);
  expect((await gateway.fetch('/v1/jobs')).status).toBe(401);
}

test('a deletion that dies once its member is disabled lets nobody in, and goes on', async () => {
  const { gateway, link } = await killWhileDeleting('member disabled, jobs not ended');
  await gateway.startCoordinator();
  await expectNothingReachable(gateway, link);
  const listed = await gateway.admin('user', 'list');
  expect(listed.stdout).toMatch(/\tAnna\t.*\tdisabled\t/);
  expect(await gateway.admin('user', 'delete', 'Anna', '--yes')).toMatchObject({ code: 0 });
  expect(await filesBelow(gateway.dataDir)).toEqual([]);
  expect(query(gateway, 'select id from members')).toEqual([]);
  expectSound(gateway);
});

test('a deletion that dies between the rows and the files of a member leaves no file', async () => {
  const { gateway, link } = await killWhileDeleting('member deleted, files not removed');
  const second = await gateway.startCoordinator();
  await expectNothingReachable(gateway, link);
  expect(query(gateway, 'select id from members')).toEqual([]);
  expect(query(gateway, 'select id from assets')).toEqual([]);
  second.child.kill('SIGTERM');
  await second.finished;
  // Younger ones might be about to get their row: they are removed once they are an hour old.
  const [file = ''] = await filesBelow(gateway.dataDir);
  const then = Date.now() / 1000 - TWO_HOURS_S;
  await utimes(join(gateway.dataDir, 'assets', file.slice(0, 2), file), then, then);
  await gateway.startCoordinator();
  await until(async () => (await filesBelow(gateway.dataDir)).length === 0);
  expectSound(gateway);
});
