import type { Candidate } from '@inference-gateway/coordinator/core/routing/match';
import { NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import type { Links } from '@inference-gateway/coordinator/core/routing/links';
import { Placement } from '@inference-gateway/coordinator/relay/placement';
import { WaitingLine } from '@inference-gateway/coordinator/relay/waiting-line';
import type { Call } from '@inference-gateway/coordinator/run/work';
import { expect, onTestFinished, test } from 'vitest';
import { makeCandidate } from '../../support/candidate.js';

const OWNERS = ['anna', 'ben', 'cleo', 'dora'];

function workOf(memberId: string, signal: AbortSignal): Call {
  return {
    requestId: 'r',
    caller: {
      memberId,
      memberName: memberId,
      keyId: 'k',
      scope: 'any',
      limits: { requests: null, concurrent: null },
    },
    endpoint: 'chat',
    model: 'm',
    needs: NO_NEEDS,
    body: new Uint8Array(),
    uploads: [],
    slots: 1,
    asked: null,
    stream: false,
    receivedAt: performance.now(),
    limitMs: null,
    signal,
  };
}

/** One machine of Anna's that all these members may use; `state.free` is its free slots. */
function openHome({ isRelayed = false, isKnown = true } = {}) {
  const state = { free: 0, looks: 0, isCurrent: true, health: 'closed' as Candidate['health'] };
  const share = { id: 's', serviceId: null, model: null, isOpen: true, slotsLeft: null };
  const shares = [{ ...share, members: new Set(OWNERS), maxTokens: null }];
  const candidates = (): readonly Candidate[] => {
    state.looks += 1;
    const { free: freeSlots, health } = state;
    return [makeCandidate({ shares, freeSlots, isRelayed, health })];
  };
  const links: Pick<Links, 'candidates' | 'want'> = {
    candidates,
    want: (wanted) => {
      offers.push(() => wanted.take({ want: 1, providerId: 'den', serviceId: 'llm-1' }));
      return { isKnown, end: () => {} };
    },
  };
  /** Of slots that another coordinator holds, for those that wait. */
  const offers: (() => boolean)[] = [];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const line = new WaitingLine((serve) => placement.atOneMoment(serve));
  const placement = new Placement(links as Links, {
    isCurrent: () => state.isCurrent,
    line,
    timing: { syncWaitMs: 60_000, reconnectWaitMs: 60_000 },
    closing: leaving.signal,
    conversations: { preferred: () => null },
  });
  const started: string[] = [];
  const refused: unknown[] = [];
  const call = (memberId: string): void => {
    const start = (): object => {
      state.free -= 1;
      started.push(memberId);
      return {};
    };
    const work = workOf(memberId, leaving.signal);
    void (async () => placement.place({ work, excluded: new Set(), start }))().catch(
      (error: unknown) => refused.push(error),
    );
  };
  return { state, line, started, refused, offers, call };
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

test('all who wait for a model look at the same providers, until one of them starts', async () => {
  const { state, line, started, call } = openHome();
  for (const member of OWNERS) call(member);
  const before = state.looks;
  line.wake();
  await turn();
  // Without this it would be eight: each of four looks at own machines, then at all.
  expect(state.looks - before).toBe(1);
  state.free = 2;
  line.wake();
  await turn();
  expect(started).toEqual(['anna', 'ben']);
  expect(state.looks - before).toBe(4);
});

test('a later caller sees what has changed since the line was looked through', async () => {
  const { state, line, started, call } = openHome();
  call('anna');
  line.wake();
  await turn();
  state.free = 1;
  call('ben');
  await turn();
  expect(started).toEqual(['ben']);
});

test('no call is placed, and none that waits, while it is not known who may use what', async () => {
  const { state, line, started, refused, call } = openHome();
  call('anna');
  [state.isCurrent, state.free] = [false, 2];
  line.wake();
  await turn();
  call('ben');
  await turn();
  const unavailable = { code: 'storage_unavailable', status: 503 };
  expect(refused).toEqual([unavailable, unavailable].map((one) => expect.objectContaining(one)));
  expect(started).toEqual([]);
});

test('a call takes a slot of another coordinator in its turn, by an offer', async () => {
  const { state, line, started, offers, call } = openHome({ isRelayed: true });
  call('anna');
  // By what was told a moment ago: by now it may be another call's.
  state.free = 1;
  line.wake();
  await turn();
  expect(started).toEqual([]);
  expect(offers.map((offer) => offer())).toEqual([true]);
  expect(started).toEqual(['anna']);
});

test('it does so by itself where the other coordinators do not know that it waits', async () => {
  const { state, line, started, call } = openHome({ isRelayed: true, isKnown: false });
  call('anna');
  state.free = 1;
  line.wake();
  await turn();
  expect(started).toEqual(['anna']);
});

test('an offer of a provider that gets no calls for its failures is not taken', async () => {
  const { state, offers, started, call } = openHome({ isRelayed: true });
  call('anna');
  state.health = 'open';
  expect(offers.map((offer) => offer())).toEqual([false]);
  state.health = 'closed';
  expect(offers.map((offer) => offer())).toEqual([true]);
  expect(started).toEqual(['anna']);
});
