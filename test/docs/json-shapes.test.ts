import { expect, test } from 'vitest';
import { Sighting } from './json-shapes.js';

const FIELDS = new Map([
  ['id', 'string'],
  ['state', '`open`, `used` or null'],
  ['at', 'time'],
  ['note', 'string or absent'],
  ['host', 'a host or null'],
  ['host.os', 'string'],
  ['jobs[].index', 'integer'],
]);
const SOUND = { id: 'a', state: 'open', at: Date.now(), host: { os: 'x' }, jobs: [{ index: 0 }] };

test.each([
  [SOUND, []],
  [{ ...SOUND, note: 'n', state: null, host: null, jobs: [] }, []],
  [{ ...SOUND, more: 1 }, ['more is not documented']],
  [{ ...SOUND, host: { os: 'x', more: 1 } }, ['host.more is not documented']],
  [{ ...SOUND, id: null }, ['id is null, not string']],
  [{ ...SOUND, at: 1_760_000_000 }, ['at is 1760000000, not time']],
  [{ ...SOUND, state: 'shut' }, ['state is "shut", not `open`, `used` or null']],
  [{ ...SOUND, host: {} }, ['host.os is absent']],
  [{ ...SOUND, jobs: [{ index: 0 }, {}] }, ['jobs[].index is absent']],
  [{ ...SOUND, jobs: [{ index: '0' }] }, ['jobs[].index is "0", not integer']],
  [[SOUND], ['is an array']],
])('%j is told as what it is', (document, faults) => {
  const sighting = new Sighting({ rows: false, fields: FIELDS });
  sighting.add(document);
  expect([...sighting.faults]).toEqual(faults);
});

test('fields that never come, or only as null, are told', () => {
  const sighting = new Sighting({ rows: true, fields: FIELDS });
  sighting.add([
    { ...SOUND, state: null },
    { ...SOUND, state: null },
  ]);
  expect(sighting.unseen()).toEqual(['state', 'note']);
  sighting.add([{ ...SOUND, note: 'n' }]);
  expect(sighting.unseen()).toEqual([]);
});
