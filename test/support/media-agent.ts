/** Agents without a local server that serve models whose answers are files. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { TestGateway } from './gateway.js';
import { connectRawAgent, HELLO } from './raw-agent.js';
import type { RawAgent } from './raw-agent.js';
import { until } from './until.js';

type Service = (typeof HELLO)['services'][number];
type Model = Service['models'][number];

/** The advertised fields of a model, beyond the common ones. */
type Facts = Partial<Omit<Model, 'voices' | 'formats'>> & {
  readonly voices?: readonly string[];
  readonly formats?: readonly string[];
};

interface MediaAgentOptions {
  readonly type: ServiceType;
  readonly name?: string;
  readonly slots?: number;
  readonly owner?: TestGateway['anna'];
  /** Fields of its only model, named `m` by default. */
  readonly model?: Facts;
}

export async function connectMediaAgent(
  gateway: TestGateway,
  { type, name = 'pc', slots = 4, owner = gateway.anna, model = {} }: MediaAgentOptions,
): Promise<RawAgent> {
  const services = [serviceOf(type, slots, model)];
  const told = { services, instance_id: name };
  return connectRawAgent(gateway.address, await owner.enroll(name), told);
}

/** Answers every request with `answer` until the link closes. */
export function answerAll(
  agent: RawAgent,
  answer: (open: Awaited<ReturnType<RawAgent['nextOpen']>>) => Promise<void>,
): void {
  const serve = async (): Promise<void> => {
    for (;;) {
      await until(() => agent.hasOpen || agent.closeCode !== null, { timeoutMs: 60_000 });
      if (agent.closeCode !== null) return;
      const open = await agent.nextOpen();
      // Not awaited: an answer whose caller left may never end.
      void answer(open).catch(() => {});
    }
  };
  void serve().catch(() => {});
}

function serviceOf(
  type: ServiceType,
  slots: number,
  { voices, formats, ...facts }: Facts,
): Service {
  const model: Model = {
    id: 'm',
    served_name: 'm',
    context_length: null,
    input_modalities: ['text'],
    output_modalities: [type === 'image' ? 'image' : 'audio'],
    supported_features: [],
    loaded: true,
    ...facts,
    ...(voices && { voices: [...voices] }),
    ...(formats && { formats: [...formats] }),
  };
  return { service_id: `${type}-0`, service_type: type, slots, models: [model] };
}
