import { createLogger } from '@inference-gateway/shared/program/logger';
import type { RequestState } from '@inference-gateway/coordinator/http/edge/context';
import { hintAtProxy } from '@inference-gateway/coordinator/http/edge/edge';
import Koa from 'koa';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

test('a proxy in front that is not trusted is told of once', async () => {
  const lines: string[] = [];
  const app = new Koa<RequestState>();
  app.use(hintAtProxy(createLogger('info', { write: (line) => void lines.push(line) })));
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/`, { headers });
  await ask({});
  expect(lines).toEqual([]);
  for (const address of ['198.51.100.1', '198.51.100.2']) await ask({ 'x-forwarded-for': address });
  expect(lines).toEqual([expect.stringContaining('Set GATEWAY_TRUST_PROXY')]);
});
