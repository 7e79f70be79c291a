import { KeyCache, MAX_CACHED_KEYS } from '@inference-gateway/coordinator/store/client/key-cache';
import type { ApiKey, KeyHolder } from '@inference-gateway/coordinator/store/port';
import { expect, test } from 'vitest';

test('a key is read once, and again after a change', async () => {
  const { cache, find, reads } = recorder();
  await find('a');
  await find('a');
  expect(reads).toEqual(['a']);
  cache.forget();
  await find('a');
  expect(reads).toEqual(['a', 'a']);
});

test('an unknown key is not kept', async () => {
  const { find, reads } = recorder();
  expect(await find('unknown')).toBeNull();
  await find('unknown');
  expect(reads).toEqual(['unknown', 'unknown']);
});

test('what was read before a change is not kept after it', async () => {
  const { cache, find, reads } = recorder();
  const slow = Promise.resolve().then(async () => {
    cache.forget();
    return holder('a');
  });
  const reading = cache.find('a', () => slow);
  await reading;
  await find('a');
  expect(reads).toEqual(['a']);
});

test('beyond the limit, the key that was not used for longest goes', async () => {
  const { find, reads } = recorder();
  for (let i = 0; i < MAX_CACHED_KEYS; i++) await find(`key-${i}`);
  await find('key-0');
  await find('one more');
  reads.length = 0;
  await find('key-0');
  await find('key-1');
  expect(reads).toEqual(['key-1']);
});

test('a key that is used again and again is the newest until another is used', async () => {
  const { find, reads } = recorder();
  for (let i = 0; i < MAX_CACHED_KEYS; i++) await find(`key-${i}`);
  await find('key-1');
  await find('key-1');
  await find('key-0');
  await find('key-1');
  // The oldest is key-2 now.
  await find('one more');
  reads.length = 0;
  for (const name of ['key-0', 'key-1', 'key-3', 'key-2']) await find(name);
  expect(reads).toEqual(['key-2']);
});

test('the newest key is read again after a change', async () => {
  const { cache, find, reads } = recorder();
  await find('a');
  cache.forget();
  await find('a');
  await find('b');
  await find('a');
  expect(reads).toEqual(['a', 'a', 'b']);
});

test('while a change may be unknown, a key is read each time', async () => {
  let isCurrent = true;
  const { find, reads } = recorder(() => isCurrent);
  await find('a');
  isCurrent = false;
  await find('a');
  await find('a');
  isCurrent = true;
  await find('a');
  expect(reads).toEqual(['a', 'a', 'a']);
});

function recorder(isCurrent = () => true) {
  const cache = new KeyCache<KeyHolder>(isCurrent);
  const reads: string[] = [];
  const find = (hash: string): Promise<KeyHolder | null> =>
    cache.find(hash, async () => {
      reads.push(hash);
      return hash === 'unknown' ? null : holder(hash);
    });
  return { cache, find, reads };
}

function holder(id: string): KeyHolder {
  const times = { createdAt: 1, lastUsedAt: null, expiresAt: null, disabledAt: null };
  const owner = { memberId: 'anna', memberEmail: 'anna@example.org' };
  const key = { id, ...owner, name: id, prefix: 'gwk_', ...times, revokedAt: null };
  const limits = { requests: null, concurrent: null };
  const validity = { isMemberDisabled: false, validUntil: null };
  const rest = { assets: null, rules: null, previousUntil: null };
  const held: ApiKey = { ...key, scope: 'any', ...rest };
  return { key: held, memberName: 'anna', limits, ...validity };
}
