/** A WebSocket and the TCP stream under it, as the writer sees them. */
import type { Wire } from './writer.js';

interface MessageSocket {
  readonly bufferedAmount: number;
  send(frame: string | Uint8Array, sent: (error?: Error) => void): void;
}

interface CorkableStream {
  cork(): void;
  uncork(): void;
}

/** Calls `onSend` for every frame handed to the socket. */
export function socketWire(
  socket: MessageSocket,
  stream: CorkableStream,
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

/** The part of a WebSocket that is needed here. */
interface PingSocket {
  readonly readyState: number;
  readonly OPEN: number;
  ping(): void;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

const PONG_WAIT_MS = 3_000;

/** Whether the other end of a socket answers a ping within 3 s. */
export function answersPing(socket: PingSocket): Promise<boolean> {
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
