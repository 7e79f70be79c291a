import { shareText } from '@inference-gateway/coordinator/cli/share-text';
import { expect, test } from 'vitest';

const SHARE = {
  id: 's1',
  provider: 'anna/den-pc',
  service_id: null,
  model: 'm',
  network: 'friends',
  member: null,
  slots: null,
  hours: null,
  max_tokens: null,
  day: null,
  month: null,
  created_at: 1,
};
const NOTHING = { requests: 0, tokens: 0, images: 0, audio_s: 0, until: 1 };
const USED = { day: { ...NOTHING, requests: 2 }, month: { ...NOTHING, tokens: 70 } };

test.each([
  [{}, 'model m of anna/den-pc with the network friends'],
  [{ slots: 1, max_tokens: 1 }, / friends \(1 slot, 1 token\)$/],
  [{ slots: 2, max_tokens: 5, hours: '1:00-2:00 UTC' }, /\(2 slots, 5 tokens, 1:00-2:00 UTC\)$/],
  [{ day: 'requests=5', month: 'images=1' }, /\(requests=5 a day, images=1 a month\)$/],
  [
    { day: 'requests=5,images=1', month: 'tokens=100', used: USED },
    /\(requests=2\/5,images=0\/1 a day, tokens=70\/100 a month\)$/,
  ],
  [{ model: null, service_id: 'gpu0' }, /^service gpu0 of /],
  [{ model: null, network: null, member: 'ben' }, 'all of anna/den-pc with the member ben'],
])('a share with %o reads as such', (change, text) => {
  const shown = shareText({ ...SHARE, ...change });
  if (typeof text === 'string') expect(shown).toBe(text);
  else expect(shown).toMatch(text);
});
