/** Opens the one outbound WebSocket, or says why it could not. */
import { dial as dialSocket, HANDSHAKE_TIMEOUT_MS } from '@inference-gateway/shared/protocol/dial';
import type { Dialed, DialFault } from '@inference-gateway/shared/protocol/dial';
import type { ClosedLink } from '@inference-gateway/shared/protocol/link';
import { WebSocket } from 'ws';
import { networkFault } from '../network-fault.js';

type Unreachable = { readonly kind: 'unreachable'; readonly reason: string };

export type OpenDial = Extract<Dialed, { kind: 'open' }>;

/** The reason why there is no link, or why it ended. */
export type LinkEnd = Unreachable | Extract<DialFault, { kind: 'refused' }> | ClosedLink;

/** Dials the coordinator at its public origin. Never rejects: a failure is a result. */
export async function dial(
  origin: string,
  token: string,
): Promise<OpenDial | Exclude<LinkEnd, ClosedLink>> {
  const dialed = await dialSocket(WebSocket, { origin, token }).dialed;
  if (dialed.kind !== 'unreachable') return dialed;
  return { kind: 'unreachable', reason: faultOf(dialed.error) };
}

function faultOf(error: Error): string {
  const isSlow = error.message === 'Opening handshake has timed out';
  return isSlow ? `no answer within ${HANDSHAKE_TIMEOUT_MS / 1000} s` : networkFault(error);
}
