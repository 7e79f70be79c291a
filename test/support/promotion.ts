/** What collections of the young generation move to the old one. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ENDED = 3_000;
const AT_ONCE = 8;
/** Numbers that each object holds: about 8 KB. */
const PAYLOAD = 1_000;
const COLLECT_EVERY = 50;

type Collect = (options?: { readonly type: 'minor' }) => void;

/**
 * Begins and ends thousands of objects, a few of which exist at once, and collects only the young
 * generation meanwhile. The share of their bytes that was moved to the old generation: what nothing
 * keeps is not moved. `begin` makes an object that holds the payload, and returns its end.
 */
export function promotedShare(begin: (payload: number[]) => () => void): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  const ends: (() => void)[] = [];
  let bytes = oldBytes();
  let moved = 0;
  // Only what is added counts: a full collection in between hides nothing.
  const count = (): void => {
    const now = oldBytes();
    moved += Math.max(0, now - bytes);
    bytes = now;
  };
  const run = (times: number): void => {
    for (let i = 0; i < times; i++) {
      ends.push(begin(Array.from({ length: PAYLOAD }, (_, n) => n / 2)));
      if (ends.length >= AT_ONCE) ends.shift()?.();
      if (i % COLLECT_EVERY > 0) continue;
      count();
      collect({ type: 'minor' });
      count();
    }
  };
  run(AT_ONCE * 2);
  // What exists now is old from here on.
  collect();
  collect();
  bytes = oldBytes();
  moved = 0;
  run(ENDED);
  return moved / (ENDED * PAYLOAD * 8);
}

function oldBytes(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name: name }) => /^(old|large)_/.test(name));
  return old.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}
