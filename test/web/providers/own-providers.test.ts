/** A provider's status, in the one word that matters most. */
import { expect, test } from 'vitest';
import {
  gpuText,
  heatText,
  standingOf,
  vramText,
} from '../../../packages/coordinator/web/src/screens/providers/own-providers.js';

const ONLINE = {
  approved: true,
  online: true,
  draining: false,
  paused: false,
  accepts: 'all' as 'all' | 'own' | 'none' | null,
  offline_since: null as number | null,
  last_seen_at: null as number | null,
};
const OFFLINE = { ...ONLINE, online: false, accepts: null };

test.each([
  [ONLINE, 'online'],
  [{ ...ONLINE, accepts: 'own' as const }, 'online, yours alone'],
  [{ ...ONLINE, accepts: 'none' as const }, 'online, takes no work'],
  [{ ...ONLINE, paused: true, accepts: 'own' as const }, 'paused'],
  [{ ...ONLINE, draining: true, paused: true }, 'draining'],
  [OFFLINE, 'never connected'],
  [{ ...OFFLINE, paused: true, last_seen_at: 5 }, 'offline'],
  [{ ...ONLINE, approved: false }, 'waiting for approval'],
])('%o is %s', (provider, word) => {
  expect(standingOf(provider).word).toBe(word);
});

test('it is offline since its link ended, or since it was seen last', () => {
  expect(standingOf({ ...OFFLINE, offline_since: 7, last_seen_at: 5 }).since).toBe(7);
  expect(standingOf({ ...OFFLINE, last_seen_at: 5 }).since).toBe(5);
});

test('cards are counted, and their memory is added up', () => {
  const card = { name: 'RTX 3090', vendor: 'NVIDIA', vram_mib: 24_576, driver: null };
  const other = { ...card, name: null, vram_mib: null };
  const host = { os: 'linux', arch: 'x64', gpus: [card, card, other] };
  expect(gpuText({ host })).toBe('2 × RTX 3090, NVIDIA');
  expect(vramText({ host })).toBe('48.0 GiB');
  expect(gpuText({ host: null })).toBeNull();
  expect(vramText({ host: { ...host, gpus: [other] } })).toBeNull();
});

test('the hottest card tells how hot it is', () => {
  const gpu = {
    name: null,
    memory_mib: null,
    memory_used_mib: null,
    use_percent: null,
    power_watts: null,
  };
  const gpus = [54, 61.4, null].map((temperature_c) => ({ ...gpu, temperature_c }));
  expect(heatText({ gpus })).toBe('61 °C');
  expect(heatText({ gpus: gpus.slice(-1) })).toBeNull();
});
