/** Every server, and every server that another one imitates, all at the same time. */
import { detect, scanLoopback } from '@inference-gateway/agent/backends/detection/detect';
import type { Detected } from '@inference-gateway/agent/backends/detection/detect';
import { expect, test } from 'vitest';
import { startEveryServer } from '../../../support/every-server.js';
import type { RunningServer } from '../../../support/every-server.js';
import { answer } from '../../../support/fake-behaviours.js';
import { raw, startFakeServer } from '../../../support/fake-model-server.js';
import { watchServers } from '../../../support/server-watch.js';
import type { ServerWatch } from '../../../support/server-watch.js';

test('each of all servers is named rightly, by GET alone and one question at a time', async () => {
  const servers = await startEveryServer();
  expect(new Set(servers.map(({ port }) => port)).size).toBe(servers.length);
  const watch = watchServers();
  const found = await scanLoopback(servers.map(({ port }) => port));
  expect(servers.map(({ port, name }) => ({ name, ...summary(found, port) }))).toEqual(
    servers.map(({ port, name, is }) => ({ name, ...is, slotGroup: groupAt(is.slotGroup, port) })),
  );
  expect(watch.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(watch.requests.filter(({ host, port }) => host !== `127.0.0.1:${port}`)).toEqual([]);
  expect(new Set(watch.mostAtOnce.values())).toEqual(new Set([1]));
  // Where two of them redirect to.
  expect(watch.requests.filter(({ url }) => ['/docs', '/ui'].includes(url))).toEqual([]);
  // The first of SGLang runs the model, the second of mlx-audio downloads one.
  expect(urlsAt(watch, servers, 'SGLang')).not.toContain('/health');
  expect(urlsAt(watch, servers, 'mlx-audio').filter((url) => /voices/.test(url))).toEqual([]);
}, 30_000);

/** What a scan says of one port. */
function summary(found: readonly Detected[], port: number) {
  const here = found.filter(({ baseUrl }) => new URL(baseUrl).port === String(port));
  const [first] = here;
  return {
    server: first?.server ?? 'nothing',
    backend: first?.backend ?? null,
    path: first === undefined ? '' : first.baseUrl.replace(/^http:\/\/[^/]+/, ''),
    types: here.map(({ type }) => type),
    needsKey: first?.needsKey ?? false,
    slotGroup: first?.slotGroup ?? null,
  };
}

function urlsAt(
  { requests }: ServerWatch,
  servers: readonly RunningServer[],
  name: string,
): readonly string[] {
  const port = servers.find((server) => server.name === name)?.port;
  const urls = requests.filter((request) => request.port === port).map(({ url }) => url);
  expect(urls.length).toBeGreaterThan(5);
  return urls;
}

function groupAt(group: string | null, port: number): string | null {
  return group === null ? null : `${group}-${port}`;
}

test('two requests to one port at once are seen', async () => {
  const fake = await startFakeServer({ routes: { '/': 'here' }, behaviour: answer() });
  const watch = watchServers();
  await Promise.all([fetch(fake.origin), fetch(fake.origin)]);
  await fetch(fake.origin, { method: 'POST', body: '{}' });
  await fake.close();
  expect(watch.mostAtOnce.get(fake.port)).toBe(2);
  expect(watch.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
});

test('a server that redirects every path leads nowhere', async () => {
  const trap = await startFakeServer({
    routes: { '*': { version: '1', models: [{ digest: 'd' }] } },
    behaviour: answer(),
  });
  const location = `${trap.origin}/api/tags`;
  const guide = await startFakeServer({
    routes: { '*': raw({ status: 307, headers: { location } }) },
    behaviour: answer(),
  });
  const watch = watchServers();
  const found = await detect(guide.origin, AbortSignal.timeout(10_000));
  await Promise.all([trap.close(), guide.close()]);
  expect(found).toMatchObject([{ server: 'unknown', backend: null }]);
  expect(new Set(watch.requests.map(({ port }) => port))).toEqual(new Set([guide.port]));
});
