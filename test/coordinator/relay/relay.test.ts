import { NO_ALIASES } from '@inference-gateway/coordinator/core/access/aliases';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import type { Links } from '@inference-gateway/coordinator/core/routing/links';
import { Relay } from '@inference-gateway/coordinator/relay/relay';
import type { Sink, Call } from '@inference-gateway/coordinator/run/work';
import { expect, test } from 'vitest';

test('work whose caller has left already is sent to nobody, and waits for nothing', async () => {
  let looks = 0;
  const links: Links = {
    aliases: NO_ALIASES,
    candidates: () => {
      looks += 1;
      return [];
    },
    shared: () => null,
    providers: () => [],
    open: () => null,
    ask: () => null,
    want: () => ({ isKnown: true, end: () => {} }),
    reserve: () => null,
    freeJobSlots: () => 0,
    report: () => {},
    onCapacity: () => () => {},
  };
  const relay = new Relay(links, loadConfig({}, {}));
  const outcome = await relay.run(abandonedWork(), idleSink());
  expect(outcome).toMatchObject({ kind: 'canceled', error: null, attempts: 0, providerId: null });
  expect(looks).toBe(0);
  expect(relay.underWay).toBe(0);
});

function abandonedWork(): Call {
  return {
    requestId: 'req_1',
    caller: {
      memberId: 'anna',
      memberName: 'Anna',
      keyId: 'key',
      scope: 'any',
      limits: { requests: null, concurrent: null },
    },
    endpoint: 'speech',
    model: 'kokoro',
    needs: NO_NEEDS,
    body: Buffer.alloc(0),
    uploads: [],
    slots: 1,
    asked: null,
    stream: false,
    receivedAt: performance.now(),
    limitMs: null,
    signal: AbortSignal.abort(),
  };
}

function idleSink(): Sink {
  return { committed: false, begin: () => {}, part: () => null, data: () => null, end: () => null };
}
