/** Opens the one outbound WebSocket. */
import {
  CONNECT_PATH,
  SOCKET_OPTIONS,
  SUBPROTOCOL,
} from '@inference-gateway/shared/protocol/version';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { networkFault } from '../network-fault.js';

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Why there is no link, or no longer one. */
export type LinkEnd =
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The coordinator answered the upgrade with an error status. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      /** Where it redirects to, which is not followed. */
      readonly location: string | null;
      readonly retryAfterMs: number | null;
    }
  | {
      readonly kind: 'closed';
      readonly code: number;
      readonly reason: string;
      /** From GOAWAY. */
      readonly retryAfterMs: number | null;
    };

export interface OpenSocket {
  readonly kind: 'open';
  readonly socket: WebSocket;
  /** The TCP stream under the socket. */
  readonly stream: Duplex;
}

/** Dials the coordinator at its public origin. Never rejects: what went wrong is the result. */
export function dial(origin: string, token: string): Promise<OpenSocket | LinkEnd> {
  const url = new URL(CONNECT_PATH, origin);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, SUBPROTOCOL, {
    ...SOCKET_OPTIONS,
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    followRedirects: false,
  });
  return new Promise((resolve) => {
    socket.once('upgrade', ({ socket: stream }) => {
      // In this turn: a listener attached later would miss the first frame.
      socket.once('open', () => resolve({ kind: 'open', socket, stream }));
    });
    socket.once('unexpected-response', (request, response) => {
      const { statusCode: status = 0, headers } = response;
      const retryAfterMs = readRetryAfter(headers['retry-after']);
      resolve({ kind: 'refused', status, location: headers.location ?? null, retryAfterMs });
      request.destroy();
    });
    // Stays for the life of the socket: an error event that nobody hears ends the process.
    socket.on('error', (error) => resolve({ kind: 'unreachable', reason: faultOf(error) }));
  });
}

function faultOf(error: Error): string {
  const isSlow = error.message === 'Opening handshake has timed out';
  return isSlow ? `no answer within ${HANDSHAKE_TIMEOUT_MS / 1000} s` : networkFault(error);
}

function readRetryAfter(header: string | undefined): number | null {
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}
