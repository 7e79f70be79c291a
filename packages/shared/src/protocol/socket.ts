/** The WebSocket of a link, and the TCP stream under it. */
import type { Wire } from './writer.js';

/** What a link needs of a WebSocket. */
export interface LinkSocket {
  readonly readyState: number;
  readonly OPEN: number;
  /** Bytes that are not yet accepted by the system. */
  readonly bufferedAmount: number;
  send(frame: string | Uint8Array, sent: (error?: Error) => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: string, listener: (...told: never[]) => void): unknown;
  once(event: string, listener: (...told: never[]) => void): unknown;
  off(event: string, listener: (...told: never[]) => void): unknown;
}

export interface OpenSocket {
  readonly socket: LinkSocket;
  /** The TCP stream under the socket. */
  readonly stream: { cork(): void; uncork(): void };
}

/** Calls `onSend` for every frame passed to the socket. */
export function socketWire(
  socket: LinkSocket,
  stream: OpenSocket['stream'],
  onSend: () => void,
): Wire {
  return {
    send(frame, sent) {
      onSend();
      // A failed send is followed by the socket's own close, which ends every stream.
      socket.send(frame, (error) => {
        if (error === undefined || error === null) sent();
      });
    },
    bufferedBytes: () => socket.bufferedAmount,
    cork: () => stream.cork(),
    uncork: () => stream.uncork(),
  };
}

const PONG_WAIT_MS = 3_000;

export function answersPing(socket: LinkSocket): Promise<boolean> {
  if (socket.readyState !== socket.OPEN) return Promise.resolve(false);
  return new Promise((resolve) => {
    const answered = (): void => settle(true);
    const gone = (): void => settle(false);
    const timer = setTimeout(gone, PONG_WAIT_MS);
    const settle = (alive: boolean): void => {
      clearTimeout(timer);
      socket.off('pong', answered);
      socket.off('close', gone);
      resolve(alive);
    };
    socket.on('pong', answered);
    socket.on('close', gone);
    socket.ping();
  });
}
