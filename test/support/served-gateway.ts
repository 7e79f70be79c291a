/** One gateway with one agent before one fake model server, for a whole file of tests. */
import type { Config } from '@inference-gateway/coordinator/config/config';
import type { FakeModelServer } from './fake-model-server.js';
import { startFakeOpenAi } from './fake-openai-server.js';
import { openGateway } from './gateway.js';
import type { TestGateway } from './gateway.js';

export interface ServedGateway {
  readonly gateway: TestGateway;
  readonly fake: FakeModelServer;
  /** For `beforeAll` to return: it runs after the file's last test. */
  readonly stop: () => Promise<void>;
}

/**
 * The fake serves the model `tiny` and answers at once, unless a test tells it otherwise. However
 * often it fails, the next call is given to it: each test is about its own.
 */
export async function openServedGateway(settings: Partial<Config> = {}): Promise<ServedGateway> {
  const gateway = await openGateway({ breakerOpenMs: 0, ...settings });
  const fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await fake.close();
  };
  return { gateway, fake, stop };
}
