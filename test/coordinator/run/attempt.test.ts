import { Attempt } from '@inference-gateway/coordinator/run/attempt';
import type { Sink, SinkFault } from '@inference-gateway/coordinator/run/work';
import type { ResetCode } from '@inference-gateway/shared/protocol/messages';
import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';

const HEAD = { status: 200, contentType: 'multipart/mixed' };
const TIMING = { deadlineMs: 10_000, isCallers: false, stream: null };

/** An image call whose sink ends as the test says. */
function start(end: () => SinkFault | Promise<SinkFault>) {
  const departure = new AbortController();
  const canceled: ResetCode[] = [];
  const attempt = new Attempt({
    work: {
      endpoint: 'images',
      model: 'sd',
      receivedAt: performance.now(),
      signal: departure.signal,
    },
    sink: sinkThatEnds(end),
    provider: { providerId: 'provider-1', providerName: 'pc' },
    attempt: 1,
    spent: null,
    maxTokens: null,
    timing: TIMING,
    bounds: null,
  });
  attempt.begin({
    consumed: () => {},
    cancel: (code) => canceled.push(code),
    acknowledge: () => {},
  });
  attempt.head(HEAD);
  return { attempt, departure, canceled };
}

function sinkThatEnds(end: Sink['end']): Sink {
  return { committed: false, begin: () => {}, part: () => null, data: () => null, end };
}

/** An end that takes until the test settles it. */
function keeping() {
  const settled = new EventEmitter();
  const kept = once(settled, 'kept').then(([fault]) => fault as SinkFault);
  return { kept, settle: (fault: SinkFault) => void settled.emit('kept', fault) };
}

test('a caller who leaves once all of it is made is answered: the work is done', async () => {
  const { kept, settle } = keeping();
  const { attempt, departure, canceled } = start(() => kept);
  attempt.end({});
  departure.abort();
  settle(null);
  expect(await attempt.result).toMatchObject({
    kind: 'done',
    metered: { promptTokens: 0, completionTokens: 0, estimated: false },
  });
  expect(canceled).toEqual([]);
});

test('a caller who left meanwhile is not answered by another provider', async () => {
  const { kept, settle } = keeping();
  const { attempt, departure } = start(() => kept);
  attempt.end({});
  departure.abort();
  settle('it is no image');
  expect(await attempt.result).toEqual({ kind: 'gone' });
});

test('a caller who leaves before stops the work', async () => {
  const { attempt, departure, canceled } = start(() => null);
  departure.abort();
  expect(await attempt.result).toEqual({ kind: 'gone' });
  expect(canceled).toEqual(['CALLER_GONE']);
});

test('an answer that cannot be used is a failure of the provider’s', async () => {
  const { attempt } = start(() => Promise.resolve('it is no image'));
  attempt.end({});
  const failure = { kind: 'unusable', reason: 'it is no image' };
  expect(await attempt.result).toEqual({ kind: 'failed', failure });
});

test('a sink that breaks is our own failure, and ends nothing but its call', async () => {
  const broken = new Error('no such column');
  const { attempt } = start(() => Promise.reject(broken));
  attempt.end({});
  await expect(attempt.result).rejects.toBe(broken);
});
