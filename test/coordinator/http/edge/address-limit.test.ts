import {
  AddressLimit,
  MAX_ADDRESSES,
} from '@inference-gateway/coordinator/http/edge/address-limit';
import { expect, it } from 'vitest';

const TRIES = 5;

/** How many of these tries are allowed. */
function allowed(limit: AddressLimit, tries: number, addressOf: (index: number) => string): number {
  let count = 0;
  for (let i = 0; i < tries; i++) {
    try {
      limit.take(addressOf(i));
      count += 1;
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
    }
  }
  return count;
}

const ipv4 = (index: number): string => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
const inside = (index: number): string => `2001:db8:7:${index.toString(16)}::1`;

it('a flood of other addresses makes no address forgotten that has tried more often', () => {
  const limit = new AddressLimit(TRIES);
  expect(allowed(limit, TRIES + 1, () => '192.0.2.7')).toBe(TRIES);
  expect(allowed(limit, 2 * MAX_ADDRESSES, ipv4)).toBe(2 * MAX_ADDRESSES);
  expect(allowed(limit, 1, () => '192.0.2.7')).toBe(0);
});

it('the holder of a whole IPv6 network has no more tries than four addresses in it', () => {
  const limit = new AddressLimit(TRIES);
  expect(allowed(limit, 65_536, inside)).toBe(4 * TRIES);
  expect(allowed(limit, 1, () => '2001:db8:8:1::1')).toBe(1);
  expect(() => limit.take(inside(0))).toThrow(`Your network has tried ${4 * TRIES} times`);
});

it('one home in a network does not use up the tries of the others', () => {
  const limit = new AddressLimit(TRIES);
  expect(allowed(limit, 100 * TRIES, () => '2001:db8:7:1::1')).toBe(TRIES);
  expect(allowed(limit, TRIES, () => '2001:db8:7:2::1')).toBe(TRIES);
});
