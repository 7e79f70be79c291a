import { NO_NEEDS, capableCandidates } from '@inference-gateway/coordinator/core/routing/match';
import type { Candidate, Choice } from '@inference-gateway/coordinator/core/routing/match';
import { waitingFor } from '@inference-gateway/coordinator/core/jobs/waiting-reason';
import type {
  WaitingInput,
  WaitingJob,
} from '@inference-gateway/coordinator/core/jobs/waiting-reason';
import { describe, expect, test } from 'vitest';
import { advertisedModel, makeCandidate } from '../../../support/candidate.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const LATER = NOW + 8_000;
const EARLIER = NOW - 60_000;

const ERROR = {
  message: 'den-pc lost its local server.',
  type: 'upstream_error',
  code: 'provider_error',
  param: null,
} as const;

const BUSY = { freeSlots: 0, freeJobSlots: 0, slots: 4 };
const FREE = { freeSlots: 2, freeJobSlots: 1, slots: 4 };
/** The free slot is kept for synchronous calls. */
const KEPT = { freeSlots: 1, freeJobSlots: 0, slots: 4 };
const AWAY = { ...BUSY, online: false, linkId: null };
const FOREIGN = { ownerId: 'ben' };
const CALLER = { memberId: 'anna', scope: 'any' as const };
/** What Ben shares with Anna. */
const SHARED = {
  id: 'share',
  serviceId: null,
  model: null,
  members: new Set(['anna']),
  isOpen: true,
  slotsLeft: null,
  maxTokens: null,
};

describe('a queued job says what it waits for', () => {
  test.each<[string, Partial<WaitingInput>, string]>([
    [
      'asynchronous processing is off',
      { asyncEnabled: false },
      'Asynchronous processing is not enabled on this gateway.',
    ],
    ['the queue is paused', { paused: true }, 'The queue is paused by an administrator.'],
    [
      'it backs off after a failure',
      { job: job({ notBefore: LATER, attempts: 1, error: ERROR }) },
      'It is tried again at 2026-01-02T03:04:13.000Z, after attempt 1 of 3: ' +
        'den-pc lost its local server.',
    ],
    [
      'it backs off and nothing is known of a failure',
      { job: job({ notBefore: LATER }) },
      'It is tried again at 2026-01-02T03:04:13.000Z.',
    ],
    [
      'everybody has failed again and again',
      {
        candidates: [
          candidate({ ...FREE, health: 'open', nextProbeMs: 12_300 }),
          candidate({ ...FREE, health: 'open', nextProbeMs: 1_000 }),
          candidate(AWAY),
        ],
      },
      "Every provider of the model 'tiny' failed lately; one is tried again in 1 second.",
    ],
    [
      'the only one that failed is being tried',
      { candidates: [candidate({ ...FREE, health: 'open', nextProbeMs: 0 })] },
      "Every provider of the model 'tiny' failed lately; one is being tried again at this moment.",
    ],
    [
      'one failed, and another is to try',
      { candidates: [candidate({ ...FREE, health: 'open' }), candidate({ health: 'probe' })] },
      'It is about to start.',
    ],
    [
      'nobody whom its caller may use serves the model',
      { candidates: [] },
      "No provider that you may use serves the model 'tiny' as llm.",
    ],
    [
      'the last provider left a minute ago',
      { candidates: [candidate(AWAY)], lastServedAt: EARLIER },
      "No provider that serves the model 'tiny' as llm has been online since " +
        '2026-01-02T03:03:05.000Z.',
    ],
    [
      'nobody knows when a provider was last there',
      { candidates: [candidate(AWAY)] },
      "No provider that serves the model 'tiny' as llm is online.",
    ],
    [
      'it is shared at other hours',
      { candidates: [candidate({ ...FOREIGN, shares: [{ ...SHARED, isOpen: false }] })] },
      "The model 'tiny' is shared with you at other hours of the day.",
    ],
    [
      'the slots of its share are taken',
      { candidates: [candidate({ ...FOREIGN, shares: [{ ...SHARED, slotsLeft: 0 }] })] },
      "All that is shared with you of 'tiny' is busy; it is the next; " +
        "its owner's own jobs go first.",
    ],
    [
      'all that are online are draining',
      { candidates: [candidate({ ...FREE, draining: true }), candidate(AWAY)] },
      "Every online provider of the model 'tiny' is draining: it takes no new work.",
    ],
    [
      'the owner drains the only provider',
      { candidates: [candidate({ ...FREE, accepts: 'none' })] },
      "Every online provider of the model 'tiny' is draining: it takes no new work.",
    ],
    [
      'the only provider takes its owner’s work alone',
      { candidates: [candidate({ ...FREE, ...FOREIGN, accepts: 'own' })] },
      "Every online provider of the model 'tiny' is paused by its owner.",
    ],
    [
      'one provider is paused and the other is draining',
      { candidates: [candidate({ ...FOREIGN, accepts: 'own' }), candidate({ draining: true })] },
      "Every online provider of the model 'tiny' is paused by its owner.",
    ],
    [
      'all slots are busy',
      { candidates: [candidate(BUSY), candidate({ ...BUSY, slots: 2 })] },
      "All 6 slots for 'tiny' are busy; it is the next.",
    ],
    [
      'the only slot is busy',
      { candidates: [candidate({ ...BUSY, slots: 1 })] },
      "The only slot for 'tiny' is busy; it is the next.",
    ],
    [
      'what is free is kept for synchronous calls',
      { candidates: [candidate(KEPT)] },
      "Of 4 slots for 'tiny' 3 are busy and 1 is kept for synchronous calls; it is the next.",
    ],
    [
      'two providers keep a slot each',
      { candidates: [candidate(KEPT), candidate({ ...KEPT, slots: 2 })] },
      "Of 6 slots for 'tiny' 4 are busy and 2 are kept for synchronous calls; it is the next.",
    ],
    [
      'all slots are busy and jobs come before it',
      { candidates: [candidate(BUSY)], queue: { before: 3, ownBefore: 1 } },
      "All 4 slots for 'tiny' are busy; 3 jobs come before it, 1 of them yours.",
    ],
    [
      'all slots are busy and only own jobs come before it',
      { candidates: [candidate(BUSY)], queue: { before: 2, ownBefore: 2 } },
      "All 4 slots for 'tiny' are busy; it is behind 2 jobs of yours.",
    ],
    [
      'jobs of others come before it',
      { queue: { before: 1, ownBefore: 0 } },
      '1 job comes before it, none of them yours.',
    ],
    [
      'an own job comes before it',
      { queue: { before: 1, ownBefore: 1 } },
      'It is behind 1 job of yours.',
    ],
    [
      'the machine is another member’s',
      { candidates: [candidate({ ...BUSY, ...FOREIGN })], queue: { before: 2, ownBefore: 0 } },
      "All 4 slots for 'tiny' are busy; 2 jobs come before it, none of them yours; " +
        "its owner's own jobs go first.",
    ],
    ['a slot is free', {}, 'It is about to start.'],
    [
      'a slot is free where one provider is paused and another away',
      { candidates: [candidate({ accepts: 'none' }), candidate(AWAY), candidate(FREE)] },
      'It is about to start.',
    ],
  ])('%s', (_situation, input, reason) => {
    expect(waitingFor(situation(input)).reason).toBe(reason);
  });

  test('a back-off that is over is no reason any more', () => {
    const over = job({ notBefore: NOW, attempts: 1, error: ERROR });
    expect(waitingFor(situation({ job: over }))).toEqual({
      position: 1,
      reason: 'It is about to start.',
    });
  });

  test('the slots of a paused provider are not counted', () => {
    const candidates = [candidate({ ...BUSY, accepts: 'none' }), candidate(BUSY)];
    expect(waitingFor(situation({ candidates })).reason).toContain('All 4 slots');
  });

  test('an own provider beside a foreign one means that no owner goes first', () => {
    const candidates = [candidate(BUSY), candidate({ ...BUSY, ...FOREIGN })];
    expect(waitingFor(situation({ candidates })).reason).not.toContain('owner');
  });
});

describe('its position', () => {
  test('is one more than the jobs before it', () => {
    expect(waitingFor(situation({ queue: { before: 0, ownBefore: 0 } })).position).toBe(1);
    expect(waitingFor(situation({ queue: { before: 41, ownBefore: 7 } })).position).toBe(42);
  });

  test('is kept while the queue is paused', () => {
    const paused = situation({ paused: true, queue: { before: 2, ownBefore: 0 } });
    expect(waitingFor(paused).position).toBe(3);
  });

  test('is null while its key holds it, which it says after what holds all jobs', () => {
    const held = "The API key 'laptop' is disabled.";
    const waits = situation({ held, queue: { before: 2, ownBefore: 0 } });
    expect(waitingFor(waits)).toEqual({ position: null, reason: held });
    expect(waitingFor({ ...waits, paused: true }).reason).toContain('paused');
  });

  test('is null while it backs off, and where nobody knows it', () => {
    expect(waitingFor(situation({ job: job({ notBefore: LATER }) })).position).toBeNull();
    expect(waitingFor(situation({ queue: null })).position).toBeNull();
  });
});

function situation(changes: Partial<WaitingInput>): WaitingInput {
  return {
    job: job({}),
    serviceType: 'llm',
    models: ['tiny'],
    candidates: [candidate(FREE)],
    lastServedAt: null,
    asyncEnabled: true,
    held: null,
    paused: false,
    queue: { before: 0, ownBefore: 0 },
    now: NOW,
    ...changes,
  };
}

function job(changes: Partial<WaitingJob>): WaitingJob {
  return {
    memberId: 'anna',
    model: 'tiny',
    alias: null,
    attempts: 0,
    maxAttempts: 3,
    notBefore: null,
    error: null,
    ...changes,
  };
}

function candidate(changes: Partial<Candidate>): Choice {
  const many = { freeSlots: 4, freeJobSlots: 3, slots: 4 };
  const model = advertisedModel({ id: 'tiny' });
  const made = makeCandidate({ ...many, model, shares: [SHARED], ...changes });
  const [choice] = capableCandidates([made], { caller: CALLER, needs: NO_NEEDS });
  if (choice === undefined) throw new Error('its caller may not use the candidate');
  return choice;
}
