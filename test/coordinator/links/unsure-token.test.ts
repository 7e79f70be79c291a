/** The answer to an agent while the coordinator cannot look up its token. */
import { Quotas } from '@inference-gateway/coordinator/core/usage/quotas';
import { LinkServer } from '@inference-gateway/coordinator/links/link-server';
import { Registry } from '@inference-gateway/coordinator/links/registry';
import { newSecret } from '@inference-gateway/shared/ids';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { CONNECT_PATH, SUBPROTOCOL } from '@inference-gateway/shared/protocol/version';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';

test('a database that fails is no reason to refuse a token: 503, come back', async () => {
  const logger = createLogger('silent');
  const links = new LinkServer({
    registry: new Registry([], {
      store: { recordServed: async () => {}, endLink: async () => {} },
      logger,
      breakerOpenMs: 30_000,
      now: Date.now,
      quotas: new Quotas(() => Promise.reject(new Error('disk I/O error')), Date.now),
    }),
    timing: { pingMs: 15_000, deadMs: 40_000, acceptMs: 5_000, jobLeaseMs: 60_000 },
    claims: { resume: async () => ({ epoch: 1, resumptions: [] }), renew: async () => [] },
    now: Date.now,
    logger,
    findProvider: () => Promise.reject(new Error('disk I/O error')),
  });
  const server = createServer().on('upgrade', links.upgrade);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${newSecret('gwa')}` };
  const url = `ws://127.0.0.1:${port}${CONNECT_PATH}`;
  const socket = new WebSocket(url, SUBPROTOCOL, { headers });
  const refused = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('unexpected-response', (request, response) => {
      resolve(response);
      request.destroy();
    });
  });
  expect(refused.statusCode).toBe(503);
  expect(refused.headers['retry-after']).toBe('5');
});
