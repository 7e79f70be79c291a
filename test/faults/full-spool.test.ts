import { symlink } from 'node:fs/promises';
import { describe, expect, test, onTestFinished } from 'vitest';
import { ended, getJob, submitted } from '../api/job-calls.js';
import { answer } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { expectIdle, expectSound, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import type { Script } from '../support/program.js';
import { mountSmallDisk } from '../support/small-disk.js';
import { until } from '../support/until.js';

/** More than an agent keeps in memory of one answer. */
const LARGE = 'x'.repeat(600_000);
const NARROW = { file: new URL('narrow-agent.js', import.meta.url), args: ['500000'] };

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

describe('an agent that has no room for an answer', () => {
  test.runIf(canMount)('on its disk leaves the job to another, and does what fits', async () => {
    const disk = await mountSmallDisk(4);
    if (disk === null) throw new Error('the superuser may not mount a file system here');
    const { gateway } = await startStage();
    await symlink(disk.folder, `${gateway.configOf('pc')}.state`);
    await startPc(gateway);
    await disk.fill();
    await expectLeftToAnother(gateway);
    await expectDone(gateway, 'small');
    await disk.empty();
    await expectDone(gateway, 'large-here');
    await expectDone(gateway, 'small');
    await expectIdle(gateway, 'small');
    expectSound(gateway);
  });

  test('under its limit leaves the job to another, and does what fits', async () => {
    const { gateway } = await startStage();
    await startPc(gateway, NARROW);
    await expectLeftToAnother(gateway);
    await expectDone(gateway, 'small');
    await expectIdle(gateway, 'small');
    expectSound(gateway);
  });
});

/** Its answers are as large as its models are called. */
async function modelServer(): Promise<FakeModelServer> {
  const server = await startFakeOpenAi({
    behaviour: (request, response) => {
      const isLarge = String(request.body['model']).startsWith('large');
      return answer({ text: isLarge ? LARGE : 'Short.' })(request, response);
    },
  });
  onTestFinished(() => server.close());
  return server;
}

async function startPc(gateway: Stage, script?: Script): Promise<void> {
  const models = ['small', 'large', 'large-here'];
  await gateway.enroll('pc', [serviceOf(await modelServer(), models)]);
  await gateway.startAgent('pc', script).online;
}

async function expectLeftToAnother(gateway: Stage): Promise<void> {
  const { id } = await submitted(gateway, { model: 'large' });
  await until(async () => (await getJob(gateway, id)).waiting_reason?.includes('again'));
  await gateway.joined('laptop', [serviceOf(await modelServer(), ['large'])]);
  const job = await ended(gateway, id);
  expect(job.status).toBe('PROCESSED');
  expect(job.attempts).toBeGreaterThan(1);
  expect(JSON.stringify(job.result)).toContain(LARGE);
}

async function expectDone(gateway: Stage, model: string): Promise<void> {
  const { id } = await submitted(gateway, { model });
  expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
}
