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
