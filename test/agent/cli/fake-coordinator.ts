/** Replaces a coordinator: accepts agents' links, welcomes them, and ends links on demand. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { decodeAgentMessage } from '@inference-gateway/shared/protocol/messages';
import type { AgentMessage, CoordinatorMessage } from '@inference-gateway/shared/protocol/messages';

export interface FakeCoordinator {
  readonly origin: string;
  readonly links: WebSocket[];
  readonly tokens: (string | undefined)[];
  readonly hellos: Extract<AgentMessage, { t: 'HELLO' }>[];
}

const WELCOME: CoordinatorMessage = {
  t: 'WELCOME',
  session_id: 'session',
  provider_id: 'provider',
  name: 'den-pc',
  ping_s: 15,
  dead_s: 40,
  heartbeat_s: 15,
  lease_s: 60,
  limits: { window_bytes: 256 * 1024, max_streams: 1024 },
  server_time: 0,
  resume: [],
};

/** With a status, it refuses every link with it. */
export async function fakeCoordinator(refuseWith: number | null = null): Promise<FakeCoordinator> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const fake: FakeCoordinator = { origin: '', links: [], tokens: [], hellos: [] };
  server.on('upgrade', (request, socket, head) => {
    fake.tokens.push(request.headers.authorization);
    if (refuseWith !== null) return socket.end(`HTTP/1.1 ${refuseWith} No\r\n\r\n`);
    return sockets.handleUpgrade(request, socket, head, (link) => welcome(link, fake));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const link of fake.links) link.terminate();
    server.close();
  });
  return Object.assign(fake, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
}

function welcome(link: WebSocket, fake: FakeCoordinator): void {
  fake.links.push(link);
  link.on('error', () => {});
  link.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return;
    const decoded = decodeAgentMessage(data.toString());
    if (decoded.kind !== 'message' || decoded.message.t !== 'HELLO') return;
    fake.hellos.push(decoded.message);
    link.send(JSON.stringify(WELCOME));
  });
}
