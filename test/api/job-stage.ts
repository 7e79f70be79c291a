/** A gateway that runs chats and images as jobs, and jobs in every state. */
import { onTestFinished } from 'vitest';
import { answer, hangBeforeHeaders, reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startStudio } from '../support/studio.js';
import { until } from '../support/until.js';
import { act, ended, JOBS, pauseQueue, resumeQueue, submitted } from './job-calls.js';
import type { JobBody } from './job-calls.js';

export interface JobStage {
  readonly gateway: TestGateway;
  /** Serves the model `tiny`. */
  readonly fake: FakeModelServer;
  /** For `beforeAll` to return: vitest calls it after the file's last test. */
  readonly stop: () => Promise<void>;
  /** Pauses the queue until the test ends, so that every job stays QUEUED. */
  holdQueue(): Promise<void>;
  /** A job that the local server has refused permanently. */
  failed(): Promise<JobBody>;
  /** A job that a provider computes until the test ends. */
  running(): Promise<JobBody>;
}

export async function openJobStage(): Promise<JobStage> {
  const gateway = await openGateway();
  const fake = await startFakeOpenAi({ behaviour: answer({ text: 'Hello from home.' }) });
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  const { fake: studio } = await startStudio(gateway, { name: 'studio', types: ['image'] });
  return {
    gateway,
    fake,
    async stop() {
      await gateway.stop();
      await fake.close();
      await studio.close();
    },
    async holdQueue() {
      await pauseQueue(gateway);
      onTestFinished(() => resumeQueue(gateway));
    },
    async failed() {
      fake.once(reply(400, { error: { message: 'the prompt is not to my taste' } }));
      return ended(gateway, (await submitted(gateway)).id);
    },
    async running() {
      const before = fake.inFlight;
      fake.once(hangBeforeHeaders());
      const job = await submitted(gateway);
      await until(() => fake.inFlight > before);
      onTestFinished(async () => void (await act(gateway, `${JOBS}/${job.id}/cancel`)));
      return job;
    },
  };
}
