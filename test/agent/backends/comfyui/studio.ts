/** A fake ComfyUI with its backend, and requests for it. */
import type { LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { ComfyUiBackend } from '@inference-gateway/agent/backends/comfyui/backend';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import { localCall } from '../../../support/local-call.js';
import type { CallOptions } from '../../../support/local-call.js';
import { COMFY_CHECKPOINTS, startFakeComfyUi } from '../../../support/local-servers/comfyui.js';
import type { FakeComfyUi, FakeComfyUiOptions } from '../../../support/local-servers/comfyui.js';
import type { GraphNode } from '../../../support/local-servers/comfyui-nodes.js';

export async function startComfyUi(
  changes: Partial<ServiceConfig> = {},
  options: FakeComfyUiOptions = {},
): Promise<{ fake: FakeComfyUi; backend: ComfyUiBackend }> {
  const fake = await startFakeComfyUi(options);
  onTestFinished(() => fake.server.close());
  const service = { backend: 'comfyui', type: 'image', ...changes } as const;
  return { fake, backend: new ComfyUiBackend(configuredServer(fake.server.origin, service)) };
}

/** One workflow, which is the model `tiny`. */
export function serving(graph: Readonly<Record<string, unknown>>): Partial<ServiceConfig> {
  return { workflows: [{ id: 'tiny', graph }] };
}

/** For the first checkpoint. */
export function generation(
  body: Record<string, unknown> = {},
  rest: Partial<CallOptions> = {},
): LocalCall {
  const [servedName = ''] = COMFY_CHECKPOINTS;
  return localCall({ endpoint: 'images', body: { prompt: 'a cat', ...body }, servedName, ...rest });
}

/** For the workflow `tiny`. */
export function filling(
  body: Record<string, unknown> = {},
  rest: Partial<CallOptions> = {},
): LocalCall {
  return localCall({ endpoint: 'images', body: { prompt: 'a cat', ...body }, ...rest });
}

/** The inputs of the first node of a class, in the job that ran as the `index`-th. */
export function inputsOf(
  fake: FakeComfyUi,
  className: string,
  index = 0,
): GraphNode['inputs'] | undefined {
  const nodes = Object.values(fake.jobs[index]?.graph ?? {});
  return nodes.find(({ class_type: name }) => name === className)?.inputs;
}
