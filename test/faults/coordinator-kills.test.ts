import { expect, test } from 'vitest';
import { accepted, ended } from '../api/job-calls.js';
import type { JobBody } from '../api/job-calls.js';
import { post } from '../api/requests.js';
import { startQuickModel } from '../support/held-model.js';
import { filesBelow } from '../support/open-library.js';
import { expectIdle, expectSound, newStage, serviceOf } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';

const DYING = new URL('dying-coordinator.js', import.meta.url);
const IMAGES = '/v1/images/generations';

/** With a key: who got no answer asks again. */
const submitImage = (gateway: Stage): Promise<Response> => {
  const headers = { 'idempotency-key': 'evening-1' };
  return post(gateway, { model: 'sd', prompt: 'a cat', async: true }, { path: IMAGES, headers });
};

/** `files`: how many answers lie in their places when it dies. */
test.each([
  { moment: 'claim written, nothing sent', files: 0 },
  { moment: 'answer whole, end not written', files: 1 },
  { moment: 'end written, agent not told', files: 1 },
])('a coordinator that dies with a $moment has the job done once', async ({ moment, files }) => {
  const server = await startQuickModel();
  const gateway = await newStage();
  const first = await gateway.startCoordinator({ file: DYING, args: [moment] });
  const text = serviceOf(server, ['m']);
  await gateway.joined('pc', [text, serviceOf(server, ['sd'], { type: 'image' })]);
  // It may be dead before it has answered.
  await submitImage(gateway).catch(() => null);
  await first.finished;
  expect(await filesBelow(gateway.dataDir)).toHaveLength(files);
  expect(server.requests).toHaveLength(files);
  await gateway.startCoordinator();
  const { id } = await accepted<JobBody>(await submitImage(gateway));
  const job = await ended(gateway, id);
  expect(job).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  expect(job.assets).toHaveLength(1);
  expect((await gateway.fetch(new URL(job.result_url ?? '').pathname)).status).toBe(200);
  await until(async () => (await gateway.spooled('pc')).length === 0);
  expect(server.requests).toHaveLength(1);
  await expectIdle(gateway, 'm');
  const images = usageRows(gateway).filter(({ endpoint }) => endpoint === 'images');
  expect(images).toMatchObject([{ requestId: `${id}.1`, outcome: 'ok', images: 1 }]);
  expect(query(gateway, 'select id from jobs')).toHaveLength(1);
  expect(query(gateway, 'select id from assets')).toHaveLength(1);
  expectSound(gateway);
  expect((await gateway.admin('asset', 'verify')).code).toBe(0);
});
