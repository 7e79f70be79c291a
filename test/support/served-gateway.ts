/** One gateway, one agent and one fake model server, for a whole file of tests. */
import type { Config } from '@inference-gateway/coordinator/config/config';
import type { FakeModelServer } from './fake-model-server.js';
import { startFakeOpenAi } from './fake-openai-server.js';
import { openGateway } from './gateway.js';
import type { TestGateway } from './gateway.js';

export interface ServedGateway {
  readonly gateway: TestGateway;
  readonly fake: FakeModelServer;
  /** For `beforeAll` to return: vitest calls it after the file's last test. */
  readonly stop: () => Promise<void>;
}

/**
 * The fake serves the model `tiny` and by default answers at once. An open circuit breaker closes
 * immediately: however often the fake fails, it gets the next call, so tests do not affect each
 * other.
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
