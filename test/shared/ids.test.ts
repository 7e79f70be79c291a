import { isSecret, newSecret, randomId, requestId, ulid } from '@inference-gateway/shared/ids';
import { describe, expect, it } from 'vitest';

describe('secrets', () => {
  it('have a prefix, 43 characters of randomness and 6 of checksum', () => {
    expect(newSecret('gwk')).toMatch(/^gwk_[0-9A-Za-z]{49}$/);
  });

  it('are recognised by their own prefix only', () => {
    const key = newSecret('gwk');
    expect(isSecret('gwk', key)).toBe(true);
    expect(isSecret('gwa', key)).toBe(false);
    expect(isSecret('gwj', key.replace('gwk', 'gwj'))).toBe(true);
  });

  it('are told apart from a truncated or mistyped copy', () => {
    const key = newSecret('gwk');
    const swapped = key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11);
    expect(isSecret('gwk', key.slice(0, -1))).toBe(false);
    expect(isSecret('gwk', `${key}x`)).toBe(false);
    expect(isSecret('gwk', swapped)).toBe(false);
    expect(isSecret('gwk', '')).toBe(false);
  });

  it('never repeat', () => {
    const secrets = new Set(Array.from({ length: 1_000 }, () => newSecret('gwa')));
    expect(secrets.size).toBe(1_000);
  });

  it('use every character of the alphabet about equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i++) {
      for (const character of newSecret('gwk').slice(4, 47)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (2_000 * 43) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values())
      expect(Math.abs(count - expected)).toBeLessThan(expected / 4);
  });
});

describe('ids', () => {
  it('sort by the time of their making', () => {
    const early = ulid(1_000_000);
    const late = ulid(1_000_001);
    expect(early).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(early < late).toBe(true);
  });

  it('name requests with req_, and sort by their time', () => {
    const [early, late] = [requestId(1_782_000_000_999), requestId(1_782_000_001_000)];
    expect(early).toMatch(/^req_[0-9A-Za-z]{20}$/);
    expect(early < late).toBe(true);
    expect(early < requestId(Date.UTC(2080, 0))).toBe(true);
  });

  it('hold at least 128 bits where they must not be guessed', () => {
    expect(randomId()).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(22 * Math.log2(62)).toBeGreaterThan(128);
  });
});
