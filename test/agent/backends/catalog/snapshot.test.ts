import { isOpenToOthers, takeSnapshot } from '@inference-gateway/agent/backends/catalog/snapshot';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { expect, test } from 'vitest';
import { advertisedModel } from '../../../support/candidate.js';
import { configuredServer } from '../../../support/configured-server.js';

const AT_NIGHT = { from: 22 * 60, until: 7 * 60, timeZone: 'UTC' };
const at = (hour: number) => Date.UTC(2030, 0, 15, hour);

test.each<{ foreign: boolean; hours: DayHours | null; hour: number; isOpen: boolean }>([
  { foreign: true, hours: null, hour: 12, isOpen: true },
  { foreign: false, hours: null, hour: 12, isOpen: false },
  { foreign: true, hours: AT_NIGHT, hour: 12, isOpen: false },
  { foreign: true, hours: AT_NIGHT, hour: 22, isOpen: true },
  { foreign: true, hours: AT_NIGHT, hour: 6, isOpen: true },
  { foreign: false, hours: AT_NIGHT, hour: 22, isOpen: false },
])('$isOpen where foreign is $foreign, hours $hours, at $hour', (one) => {
  expect(isOpenToOthers(one, at(one.hour))).toBe(one.isOpen);
});

/** One hour that is now, and one that is not. */
function hoursFrom(offset: number) {
  const hour = (new Date().getUTCHours() + offset + 24) % 24;
  return { from: hour * 60, until: ((hour + 2) % 24) * 60, timeZone: 'UTC' };
}

function serviceOpenFrom(offset: number) {
  const config = configuredServer('http://127.0.0.1:9', { hours: hoursFrom(offset) });
  return { config, slots: 1, models: [advertisedModel()] };
}

test('outside its hours a service is told as not for others', () => {
  const { services } = takeSnapshot([serviceOpenFrom(-1), serviceOpenFrom(5)], Date.now());
  expect(services.map(({ foreign }) => foreign)).toEqual([undefined, false]);
});
