import { RelayedCall } from '@inference-gateway/coordinator/nodes/relayed-call';
import type { Relay } from '@inference-gateway/coordinator/nodes/relayed-call';
import { decodeFromServing } from '@inference-gateway/shared/protocol/node-messages';
import { LinkStream } from '@inference-gateway/shared/protocol/link';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import { expect, test } from 'vitest';

const RELAY: Relay = {
  t: 'RELAY',
  stream: 1,
  endpoint: 'images',
  service_id: 's',
  model: 'm',
  caller: { name: 'Anna', own: true },
  deadline_ms: 60_000,
  attempt: 1,
  request_id: 'r',
  provider_id: 'den-pc',
  link_id: 'link',
  member_id: 'anna',
  sequences: 1,
  max_tokens: null,
  asks: false,
};

test('an agent that sends more files than there may be ends its call, and no link', () => {
  const sent: string[] = [];
  const wire = {
    send: (frame: string | Uint8Array) => void sent.push(String(frame)),
    bufferedBytes: () => 0,
    cork: () => {},
    uncork: () => {},
  };
  const out = new LinkWriter(wire, LINK.windowBytes).open(1, LINK.windowBytes);
  const host = { control: () => {}, readsMessageFrames: () => true, closed: () => {} };
  const budget = { open: () => ({ tryAdd: () => null, release: () => {} }) };
  const parts = { budget, free: null, registry: {}, onSlots: () => {} };
  const call = new RelayedCall(RELAY, new LinkStream(out, host), parts as never);
  for (let i = 0; i < 100; i += 1) call.part({ contentType: 'image/png', revisedPrompt: null });
  const messages = sent.map((text) => decodeFromServing(text));
  const tags = messages.map((one) => (one.kind === 'message' ? one.message.t : one.kind));
  expect(tags).toEqual([...Array.from({ length: LINK.maxParts + 1 }, () => 'PART'), 'RESET']);
});
