/** One backend before its server, and what a test asks it. */
import type {
  Backend,
  DocumentAnswer,
  LocalAnswer,
  LocalCall,
  ServiceConfig,
} from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import type { StandInOptions } from '../../support/local-servers/stand-in.js';
import type { Kind } from './conformance-kinds.js';

export interface Stage {
  readonly fake: FakeModelServer;
  readonly backend: Backend;
}

export async function startStage(
  kind: Kind,
  options: StandInOptions = {},
  changes: Partial<ServiceConfig> = {},
): Promise<Stage> {
  const fake = await kind.start(options);
  onTestFinished(() => fake.close());
  const { backend, key: apiKey } = kind;
  const service = configuredServer(fake.origin + kind.path, { backend, apiKey, ...changes });
  return { fake, backend: createBackend(service) };
}

export function chat(
  body: Record<string, unknown>,
  { id = 'tiny', served_name = 'tiny' }: { id?: string; served_name?: string } = {},
): LocalCall {
  const model = {
    id,
    served_name,
    context_length: null,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_features: [],
    loaded: true,
  };
  return {
    endpoint: 'chat',
    model,
    body: { model: id, messages: [{ role: 'user', content: 'hi' }], ...body },
    uploads: [],
    requestId: 'req_test',
    signal: new AbortController().signal,
  };
}

export function parse(answer: LocalAnswer): unknown {
  return JSON.parse((answer as DocumentAnswer).json);
}

export async function drain(answer: LocalAnswer): Promise<{ text: string; usage: unknown }> {
  if (answer.kind === 'media') throw new Error('media where text was due');
  if (answer.kind === 'document') return { text: answer.json, usage: answer.usage };
  if (answer.kind === 'vectors') {
    return { text: Buffer.concat(answer.json).toString(), usage: answer.usage };
  }
  let text = '';
  let next = await answer.events.next();
  for (; next.done !== true; next = await answer.events.next()) text += next.value;
  return { text, usage: next.value };
}
