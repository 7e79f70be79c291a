import type { WebSocket } from 'ws';

const PONG_WAIT_MS = 3_000;

/** Whether the other end of a socket answers a ping within 3 s. */
export function answersPing(socket: WebSocket): Promise<boolean> {
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
