/** WELCOME: the times and limits that both ends keep from now on. */
import type { Message } from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';

export interface SessionTiming {
  readonly pingMs: number;
  readonly deadMs: number;
  readonly acceptMs: number;
  readonly jobLeaseMs: number;
}

interface Welcomed {
  readonly sessionId: string;
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: SessionTiming;
  readonly resume: Message<'WELCOME'>['resume'];
}

export function welcomeMessage({
  sessionId,
  provider,
  timing,
  resume,
}: Welcomed): Message<'WELCOME'> {
  return {
    t: 'WELCOME',
    session_id: sessionId,
    provider_id: provider.id,
    name: provider.name,
    ping_s: timing.pingMs / 1000,
    dead_s: timing.deadMs / 1000,
    heartbeat_s: Math.min(LINK.heartbeatMs, timing.jobLeaseMs / 4) / 1000,
    lease_s: timing.jobLeaseMs / 1000,
    limits: { window_bytes: LINK.windowBytes, max_streams: LINK.maxStreams },
    server_time: Date.now(),
    resume,
  };
}
