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
