import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';

/** A service as the configuration would give it: by default an `openai` server at `baseUrl`. */
export function configuredServer(
  baseUrl: string,
  changes: Partial<ServiceConfig> = {},
): ServiceConfig {
  return {
    id: 'llm-1',
    type: 'llm',
    backend: 'openai',
    baseUrl,
    apiKey: null,
    slots: null,
    slotGroup: null,
    models: null,
    dropFields: [],
    foreign: true,
    hours: null,
    prove: false,
    workflows: [],
    ...changes,
  };
}
