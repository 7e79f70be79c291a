/** The status of an agent that is online with one model. */
import type { StatusFacts } from '@inference-gateway/agent/local-http/agent-metrics';

type Service = StatusFacts['services'][number];

export function agentStatus(changes: Partial<StatusFacts> = {}): StatusFacts {
  return {
    name: 'den-pc',
    connection: 'online',
    reason: null,
    running: 0,
    accepts: 'all',
    services: [serviceStatus()],
    gpus: [],
    spoolBytes: 0,
    ...changes,
  };
}

export function serviceStatus(changes: Partial<Service> = {}): Service {
  return { id: 'llm-1', state: 'up', reason: null, models: ['tiny'], ...changes };
}
