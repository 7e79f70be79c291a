import { NO_NEEDS, capableCandidates } from '@inference-gateway/coordinator/core/routing/match';
import { placeAmong } from '@inference-gateway/coordinator/core/jobs/lane';
import { expect, test } from 'vitest';
import { makeCandidate } from '../../../support/candidate.js';

const AHEAD = [
  { memberId: 'anna', jobs: 100 },
  { memberId: 'ben', jobs: 2 },
  { memberId: 'cleo', jobs: 7 },
];

/** Anna's machine, shared with these members. */
function sharedWith(...members: string[]) {
  const share = { id: 's', serviceId: null, model: null, members: new Set(members) };
  const open = { isOpen: true, slotsLeft: null, maxTokens: null };
  return makeCandidate({ ownerId: 'anna', shares: [{ ...share, ...open }] });
}

/** The place of Ben's job, if he may use these candidates. */
function placeOfBens(...candidates: ReturnType<typeof makeCandidate>[]) {
  const caller = { memberId: 'ben', scope: 'any' as const };
  return placeAmong('ben', AHEAD, capableCandidates(candidates, { caller, needs: NO_NEEDS }));
}

test('jobs for a model of the same name on machines that are not shared are not counted', () => {
  const own = makeCandidate({ ownerId: 'ben' });
  expect(placeOfBens(own)).toEqual({ before: 2, ownBefore: 2 });
});

test('jobs of members who may use one of the same machines are in the same line', () => {
  expect(placeOfBens(sharedWith('ben'))).toEqual({ before: 102, ownBefore: 2 });
  expect(placeOfBens(sharedWith('ben', 'cleo'))).toEqual({ before: 109, ownBefore: 2 });
});

test('where nobody may be used, only own jobs are told of', () => {
  expect(placeOfBens()).toEqual({ before: 2, ownBefore: 2 });
});
