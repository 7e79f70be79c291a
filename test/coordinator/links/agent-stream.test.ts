import { AgentStream } from '@inference-gateway/coordinator/links/agent-stream';
import type { OpenRequest } from '@inference-gateway/coordinator/core/routing/links';
import { describeWork } from '@inference-gateway/coordinator/links/agent-link';
import { LinkStream } from '@inference-gateway/shared/protocol/link';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { expect, test } from 'vitest';

/** Work with a body that is queued, on a socket that is full or not. */
function openWork(isFull: boolean) {
  const wire = {
    send: () => {},
    bufferedBytes: () => (isFull ? LINK.maxUnsentBytes : 0),
    cork: () => {},
    uncork: () => {},
  };
  const seen: string[] = [];
  const out = new LinkWriter(wire, LINK.windowBytes).open(1, LINK.windowBytes);
  const host = { control: () => {}, readsMessageFrames: () => true, closed: () => {} };
  const stream = new AgentStream(
    {
      acceptMs: 60_000,
      send: ({ t }) => seen.push(t),
      release: (exchange) => {
        seen.push('released');
        exchange.stream.close();
      },
      unconfirmed: () => seen.push('unconfirmed'),
      overrun: () => {},
    },
    new LinkStream(out, host),
    {
      use: { serviceId: 's', kind: 'sync', shareId: null, slots: 1 },
      handler: { stopped: () => seen.push('stopped') } as never,
    },
  );
  const request: OpenRequest = {
    job: null,
    endpoint: 'chat',
    model: 'm',
    caller: { name: 'Anna', own: true },
    memberId: 'anna',
    body: new Uint8Array(LINK.maxInlineBytes + 1),
    uploads: [],
    sequences: 1,
    deadlineMs: 60_000,
    attempt: 1,
    requestId: 'r',
  };
  stream.start({ t: 'OPEN', kind: 'sync', stream: 1, ...describeWork(request, 's') }, request);
  return { stream, seen };
}

test('work that no agent knows of is over at once when it is canceled', async () => {
  const { stream, seen } = openWork(true);
  stream.cancel('CALLER_GONE');
  await Promise.resolve();
  expect(seen).toEqual(['released', 'stopped']);
});

test('work that an agent knows of is over when it says so', async () => {
  const { stream, seen } = openWork(false);
  stream.cancel('CALLER_GONE');
  await Promise.resolve();
  expect(seen).toEqual(['RESET']);
  stream.told({ t: 'RESET', stream: 1, code: 'CANCELED' }, new Uint8Array());
  expect(seen).toEqual(['RESET', 'released', 'stopped']);
});
