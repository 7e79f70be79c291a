/** Opens the one outbound WebSocket of an agent. */
import type { LinkSocket, OpenSocket } from './socket.js';
import { CONNECT_PATH, SOCKET_OPTIONS, SUBPROTOCOL } from './version.js';

/** After this long without an answer the coordinator counts as unreachable. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Why a connection failed. */
export type DialFault =
  | { readonly kind: 'unreachable'; readonly error: Error }
  /** The coordinator answered the upgrade with an error status. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      /** The target of a redirect, which is not followed. */
      readonly location: string | null;
      readonly retryAfterMs: number | null;
    };

export type Dialed = ({ readonly kind: 'open' } & OpenSocket) | DialFault;

interface Dial {
  /** Never rejects: the result has the error. */
  readonly dialed: Promise<Dialed>;
  /** Gives up, or closes the link. */
  readonly cancel: () => void;
}

interface Place {
  /** The coordinator's public origin. */
  readonly origin: string;
  readonly token: string;
}

type DialingSocket = new (
  url: URL,
  subprotocol: string,
  options: typeof SOCKET_OPTIONS & {
    headers: Record<string, string>;
    handshakeTimeout: number;
    followRedirects: boolean;
    generateMask: (mask: Uint8Array) => void;
  },
) => LinkSocket;

interface Refusal {
  readonly statusCode?: number;
  readonly headers: Readonly<Partial<Record<'location' | 'retry-after', string>>>;
}

/** Connects at once. `Socket`: the class `WebSocket` of `ws`. */
export function dial(Socket: DialingSocket, { origin, token }: Place): Dial {
  const url = new URL(CONNECT_PATH, origin);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new Socket(url, SUBPROTOCOL, {
    ...SOCKET_OPTIONS,
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    followRedirects: false,
    generateMask: noMask,
  });
  const dialed = new Promise<Dialed>((resolve) => {
    socket.once('upgrade', ({ socket: stream }: { socket: OpenSocket['stream'] }) => {
      // In this turn of the event loop: a later listener would miss the first frame.
      socket.once('open', () => resolve({ kind: 'open', socket, stream }));
    });
    socket.once('unexpected-response', (request: { destroy(): void }, response: Refusal) => {
      const { statusCode: status = 0, headers } = response;
      const retryAfterMs = readRetryAfter(headers['retry-after']);
      resolve({ kind: 'refused', status, location: headers.location ?? null, retryAfterMs });
      request.destroy();
    });
    // Stays for the life of the socket: an error event without a listener ends the process.
    socket.on('error', (error: Error) => resolve({ kind: 'unreachable', error }));
  });
  return { dialed, cancel: () => socket.terminate() };
}

/**
 * RFC 6455 masks a client's frames so that no proxy takes bytes that others chose for a request
 * (10.3). A link is TLS or stays on one machine, and no proxy reads there. Masking took a third of
 * the CPU time that a large answer costs the agent, and a fourth of the coordinator's.
 */
function noMask(mask: Uint8Array): void {
  mask.fill(0);
}

function readRetryAfter(header: string | undefined): number | null {
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}
