/** What is told of the agent here: of its status no more than this. */
import type { AgentStatus } from '../agent.js';

type Service = Pick<AgentStatus['services'][number], 'id' | 'state' | 'reason' | 'models'>;

export interface StatusFacts extends Pick<
  AgentStatus,
  'name' | 'connection' | 'reason' | 'running' | 'accepts' | 'gpus' | 'spoolBytes'
> {
  readonly services: readonly Service[];
}
