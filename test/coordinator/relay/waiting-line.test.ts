import { WaitingLine } from '@inference-gateway/coordinator/relay/waiting-line';
import { expect, it } from 'vitest';

/** A waiting line with this many free slots; each started call takes one. */
function setUp(free: number) {
  const line = new WaitingLine();
  const started: string[] = [];
  const state = { free, looks: 0 };
  const join = (memberId: string, name: string, key = `${memberId} m`) => {
    const waiting = {
      memberId,
      key,
      tryStart: (where: 'own' | 'any') => {
        // No member here has an own machine.
        if (where === 'own') return false;
        state.looks += 1;
        if (state.free === 0) return false;
        state.free -= 1;
        started.push(name);
        return true;
      },
    };
    line.join(waiting);
    return waiting;
  };
  return { line, started, state, join };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("members take turns, whatever the length of one's own line", async () => {
  const { line, started, join } = setUp(5);
  for (const name of ['a1', 'a2', 'a3', 'a4']) join('anna', name);
  join('ben', 'b1');
  join('cleo', 'c1');
  line.wake();
  await turn();
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
});

it('a member who was served last comes last the next time', async () => {
  const { line, started, state, join } = setUp(1);
  join('anna', 'a1');
  join('anna', 'a2');
  join('ben', 'b1');
  line.wake();
  await turn();
  state.free = 1;
  line.wake();
  await turn();
  expect(started).toEqual(['a1', 'b1']);
});

it('a call that nobody can serve holds up no other', async () => {
  const { line, started, join } = setUp(1);
  line.join({ memberId: 'anna', key: 'anna rare', tryStart: () => false });
  join('anna', 'a1');
  line.wake();
  await turn();
  expect(started).toEqual(['a1']);
});

it('one look is enough for all who wait for the same thing', async () => {
  const { line, state, join } = setUp(0);
  for (let i = 0; i < 1_000; i++) join('anna', `a${i}`);
  line.wake();
  await turn();
  expect(state.looks).toBe(1);
});

it('many changes of one turn of the event loop are one look', async () => {
  const { line, state, join } = setUp(0);
  join('anna', 'a1');
  for (let i = 0; i < 100; i++) line.wake();
  await turn();
  expect(state.looks).toBe(1);
});

it('who has left is not started, and is not waited behind', async () => {
  const { line, started, join } = setUp(1);
  const waiting = join('anna', 'a1');
  expect(line.hasWaiting('anna m')).toBe(true);
  line.leave(waiting);
  expect(line.hasWaiting('anna m')).toBe(false);
  expect(line.lengthOf('anna')).toBe(0);
  line.wake();
  await turn();
  expect(started).toEqual([]);
});

it('a caller who waits for a machine of their own gets it before others', async () => {
  const line = new WaitingLine();
  const started: string[] = [];
  let free = 1;
  const join = (name: string, ownsIt: boolean): void => {
    const tryStart = (where: 'own' | 'any'): boolean => {
      if (free === 0 || (where === 'own' && !ownsIt)) return false;
      free -= 1;
      started.push(name);
      return true;
    };
    line.join({ memberId: name, key: name, tryStart });
  };
  join('ben', false);
  join('anna', true);
  line.wake();
  await turn();
  expect(started).toEqual(['anna']);
});
