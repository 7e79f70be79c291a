/** A fake web UI with its backend, and requests for it. */
import type { Backend, LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import { CHECKPOINTS, startFakeWebUi } from '../../../support/fake-automatic1111.js';
import type { FakeWebUi, FakeWebUiOptions } from '../../../support/fake-automatic1111.js';
import { localCall } from '../../../support/local-call.js';
import type { CallOptions } from '../../../support/local-call.js';

/** The loaded checkpoint's. */
export const TITLE = CHECKPOINTS[0]?.title ?? '';

export async function startWebUi(
  options: FakeWebUiOptions = {},
  changes: Partial<ServiceConfig> = {},
): Promise<{ fake: FakeWebUi; backend: Backend }> {
  const fake = await startFakeWebUi(options);
  onTestFinished(() => fake.server.close());
  const service = { backend: 'automatic1111', type: 'image', ...changes } as const;
  return { fake, backend: createBackend(configuredServer(fake.server.origin, service)) };
}

export function generation(
  body: Record<string, unknown> = {},
  rest: Partial<CallOptions> = {},
): LocalCall {
  const named = { id: 'v1-5-pruned', servedName: TITLE };
  return localCall({ endpoint: 'images', body: { prompt: 'a cat', ...body }, ...named, ...rest });
}
