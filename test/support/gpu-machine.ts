/** A machine with two cards and two services, as its agent reports it. */
import { connectRawAgent, HELLO } from './raw-agent.js';
import type { RawAgent } from './raw-agent.js';

const [LLM] = HELLO.services;
const [MODEL] = LLM?.models ?? [];

const CARD = { name: 'NVIDIA GeForce RTX 4090', vendor: 'NVIDIA', vram_mib: 24_576, driver: '570' };

const READING = {
  use_percent: 93,
  memory_used_mib: 20_480,
  temperature_c: 61,
  power_watts: 310.4,
};

/** Serves `llama3.2:3b` and `qwen3:8b` by `llm-0`, and by `image-0`, for its owner only, `sdxl`. */
export async function connectGpuMachine(address: string, token: string): Promise<RawAgent> {
  const agent = await connectRawAgent(address, token, {
    agent_version: '0.9.1',
    host: { os: 'linux', arch: 'x64', gpus: [CARD, CARD] },
    services: [service('llm', ['llama3.2:3b', 'qwen3:8b']), service('image', ['sdxl'])],
  });
  const gpus = [READING, { ...READING, temperature_c: 54 }];
  agent.send({ t: 'HEARTBEAT', seq: 1, slots: [], claims: [], accepts: 'all', gpus });
  return agent;
}

type Service = (typeof HELLO)['services'][number];

function service(type: 'llm' | 'image', ids: readonly string[]): Service {
  if (LLM === undefined || MODEL === undefined) throw new Error('HELLO has a service and a model');
  return {
    ...LLM,
    service_id: `${type}-0`,
    service_type: type,
    ...(type === 'image' && { foreign: false }),
    models: ids.map((id) => ({ ...MODEL, id, served_name: id })),
  };
}
