import { array, assert, asyncProperty, record } from 'fast-check';
import { expect, it } from 'vitest';
import { openTown } from '../api/sharing-town.js';
import type { Town } from '../api/sharing-town.js';
import { View } from '../api/sharing-views.js';
import { actions, beginnings, MEMBERS, OPENING } from '../api/sharing-world.js';
import type { Action } from '../api/sharing-world.js';
import { FULL } from '../support/process-stage.js';

/** After each stage, every member checks everything. */
const stage = array(actions, { minLength: 8, maxLength: 8 });

const history = record({
  beginning: array(beginnings, { minLength: 24, maxLength: 24 }),
  first: stage,
  second: stage,
});

async function live(stages: readonly (readonly Action[])[]): Promise<void> {
  const town = await openTown();
  try {
    for (const stage of stages) await pass(town, stage);
  } catch (error) {
    // The facts of that moment are added to the report of what a member saw or got.
    const { message } = error as Error;
    throw new Error(`${message}\n\n${town.world.toString()}`, { cause: error });
  } finally {
    await town.close();
  }
}

async function pass(town: Town, stage: readonly Action[]): Promise<void> {
  for (const action of stage) await town.act(action);
  await Promise.all(MEMBERS.map((member) => new View(town, member).check()));
  expect(town.trespasses).toEqual([]);
}

/** The report of a failure contains the seed; to repeat it, add `{ seed, path }` to `numRuns`. */
it('whatever members share, nobody sees or gets what the rule forbids', { timeout: 600_000 }, () =>
  assert(
    asyncProperty(history, ({ beginning, first, second }) =>
      live([[...OPENING, ...beginning, ...first], second]),
    ),
    // Each run needs a whole gateway, so failures are reported without shrinking.
    { numRuns: FULL ? 30 : 1, endOnFailure: true, unbiased: true },
  ),
);
