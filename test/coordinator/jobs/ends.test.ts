/** The write that ends a run, when the database fails at the wrong moment. */
import { RunEnds } from '@inference-gateway/coordinator/jobs/ends';
import type { JobRun } from '@inference-gateway/coordinator/jobs/job-run';
import type { JobSinks } from '@inference-gateway/coordinator/jobs/sinks';
import type { DispatchStore, FinishOutcome } from '@inference-gateway/coordinator/store/port';
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { expect, test } from 'vitest';

const DUPLICATE: FinishOutcome = { kind: 'duplicate' };
const LOST = new ApiError('storage_unavailable', 'The coordinator cannot use its database now.');

/** What becomes of a run's files when its result is written with these outcomes. */
async function finish(...outcomes: readonly (FinishOutcome | ApiError)[]): Promise<string[]> {
  const told: string[] = [];
  const left = [...outcomes];
  const store = {
    finishJob: async () => {
      const outcome = left.shift() ?? DUPLICATE;
      if (outcome instanceof ApiError) throw outcome;
      return outcome;
    },
  } as unknown as DispatchStore;
  const run = {
    claim: { claimId: 'claim', linkId: 'link' },
    firstByteMs: null,
    sink: {
      result: { text: null, assets: [], measures: {} },
      discard: () => told.push('drafts removed'),
      drop: async () => void told.push('files removed'),
    },
    acknowledge: (fate: string) => told.push(fate),
  } as unknown as JobRun;
  const ends = new RunEnds({
    store,
    sinks: { library: { limits: null } } as unknown as JobSinks,
    now: Date.now,
    logger: { warn: () => {} } as unknown as Logger,
    onChange: () => {},
  });
  const done = { kind: 'done', metered: {} } as unknown as Parameters<RunEnds['write']>[1];
  await ends.write(run, done);
  return told;
}

test('a result that is there already is of another run: the files of this one go', async () => {
  expect(await finish(DUPLICATE)).toEqual(['files removed', 'duplicate']);
});

test('a result that seemed not to be stored, and was, keeps its files', async () => {
  expect(await finish(LOST, DUPLICATE)).toEqual(['drafts removed', 'duplicate']);
});
