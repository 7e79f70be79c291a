/** A graphics card as HELLO tells it: what is not known is null, never a guess. */
import type { AgentHost } from '@inference-gateway/shared/protocol/messages';

export type Gpu = AgentHost['gpus'][number];

/** Asks one place for the cards of this machine; rejects where it cannot be asked. */
export type GpuSource = () => Promise<readonly Gpu[]>;
