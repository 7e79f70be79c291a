import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { openStatusServer } from '@inference-gateway/agent/local-http/status-server';
import type { StatusFacts } from '@inference-gateway/agent/local-http/agent-metrics';
import { Tally } from '@inference-gateway/agent/work/ledger';
import { expect, onTestFinished, test } from 'vitest';
import { parsePrometheus, valueOf } from '../../support/prometheus-text.js';
import { agentStatus, serviceStatus } from './agent-status.js';

interface Told {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Asks with the method, path and Host that are given. */
type Ask = (path: string, options?: { method?: string; host?: string }) => Promise<Told>;

async function serve(changes: Partial<StatusFacts> = {}): Promise<{ port: number; ask: Ask }> {
  const agent = { status: () => agentStatus(changes), ledger: { tally: new Tally() } };
  const server = await openStatusServer(0, agent);
  onTestFinished(() => server.close());
  const { port } = server;
  const ask: Ask = (path, { method = 'GET', host = `127.0.0.1:${port}` } = {}) =>
    new Promise((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path, method, headers: { host } });
      asked.once('error', reject).once('response', (response) => {
        const { statusCode: status, headers } = response;
        void text(response).then((body) => resolve({ status, headers, text: body }), reject);
      });
      asked.end();
    });
  return { port, ask };
}

test('readyz is 200 while the agent is online with a model', async () => {
  const { ask } = await serve();
  const { status, headers, text } = await ask('/readyz');
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  expect(JSON.parse(text)).toEqual({ ready: true, name: 'den-pc', models: 1 });
});

test.each<[string, Partial<StatusFacts>]>([
  ['connecting: refused', { connection: 'connecting', reason: 'refused' }],
  ['stopping', { connection: 'stopping' }],
  ['no model is up.', { services: [] }],
  [
    'no model is up. llm-1: it hangs',
    { services: [serviceStatus({ state: 'down', reason: 'it hangs', models: [] })] },
  ],
])('readyz is 503 with the reason "%s"', async (reason, changes) => {
  const { ask } = await serve(changes);
  const { status, text } = await ask('/readyz');
  expect(status).toBe(503);
  expect(JSON.parse(text)).toEqual({ ready: false, reason });
});

test('metrics are in the text format of Prometheus', async () => {
  const { ask } = await serve({ running: 3 });
  const { status, headers, text } = await ask('/metrics');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(valueOf(parsePrometheus(text), 'gateway_agent_running')).toBe(3);
});

test('HEAD is answered like GET, without the body', async () => {
  const { ask } = await serve();
  const { text, headers } = await ask('/readyz');
  const head = await ask('/readyz', { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, text: '' });
  expect(head.headers['content-length']).toBe(headers['content-length']);
  expect(text).not.toBe('');
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
  const { ask } = await serve();
  const { status, headers } = await ask('/readyz', { method });
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
});

test.each(['/', '/readyz/', '/status', '/../readyz'])('%s is not there', async (path) => {
  const { ask } = await serve();
  expect(await ask(path)).toMatchObject({ status: 404 });
});

test.each(['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:80', '192.168.1.2'])(
  'a request for %s is refused: a name can be pointed at this address',
  async (host) => {
    const { ask } = await serve();
    const { status, text } = await ask('/metrics', { host });
    expect(status).toBe(403);
    expect(text).not.toContain('gateway_agent');
  },
);

test.each(['localhost', 'LOCALHOST:9', '[::1]:7', '127.0.0.1'])(
  '%s is this machine',
  async (host) => {
    const { ask } = await serve();
    expect(await ask('/readyz', { host })).toMatchObject({ status: 200 });
  },
);

test('it listens on loopback alone', async () => {
  const { port } = await serve();
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  for (const { address } of addresses.filter(({ internal }) => !internal)) {
    expect(await takesConnections(address, port), address).toBe(false);
  }
  expect(await takesConnections('127.0.0.1', port)).toBe(true);
});

test('a port that is taken is told as such, with exit code 7', async () => {
  const { port } = await serve();
  const agent = { status: agentStatus, ledger: { tally: new Tally() } };
  await expect(openStatusServer(port, agent)).rejects.toMatchObject({
    exitCode: 7,
    message: expect.stringContaining(`port ${port} of 127.0.0.1 is taken`),
  });
});

function takesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    const end = (taken: boolean) => () => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}
