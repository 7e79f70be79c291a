/** A backend before the server that it is made for, for one type of work. */
import type { Backend, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import type { BackendName, BackendTools } from '@inference-gateway/agent/backends/create-backend';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { callChecked } from '../../support/local-call.js';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import { chat } from './conformance-stage.js';

export interface Described {
  readonly fake: FakeModelServer;
  readonly backend: Backend;
  readonly models: readonly AdvertisedModel[];
  readonly ids: readonly string[];
  readonly slots: number | null;
}

interface Choice extends Partial<ServiceConfig> {
  readonly backend: BackendName;
  /** Behind the origin. */
  readonly path?: string;
  readonly tools?: BackendTools;
}

export async function describeAt(
  starting: Promise<FakeModelServer>,
  { path = '/v1', tools, ...changes }: Choice,
): Promise<Described> {
  const fake = await starting;
  onTestFinished(() => fake.close());
  const backend = createBackend(configuredServer(fake.origin + path, changes), tools);
  const { models, slots } = await backend.describe(AbortSignal.timeout(2_000));
  return { fake, backend, models, slots, ids: models.map(({ id }) => id) };
}

/** The body that the local server gets for a chat with these fields. */
export async function sentFor(
  { fake, backend }: Pick<Described, 'fake' | 'backend'>,
  fields: Record<string, unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  await callChecked(backend, chat(fields));
  return fake.lastRequest.body;
}
