import {
  believableReading,
  cardReading,
  MAX_CARDS,
  decodeAgentMessage,
} from '@inference-gateway/shared/protocol/messages';
import { describe, expect, test } from 'vitest';

const READING = { use_percent: 97.5, memory_used_mib: 8123, temperature_c: 71, power_watts: 214.5 };
const UNKNOWN = {
  use_percent: null,
  memory_used_mib: null,
  temperature_c: null,
  power_watts: null,
};

function beat(gpus: unknown) {
  const claims = { slots: [], claims: [], accepts: 'all' };
  return decodeAgentMessage(JSON.stringify({ t: 'HEARTBEAT', seq: 1, ...claims, gpus }));
}

describe('a heartbeat', () => {
  test.each([
    ['of a machine that does not tell', undefined],
    ['of a machine without a card', []],
    ['of two cards, one of which tells nothing', [READING, UNKNOWN]],
    ['of as many cards as there may be', Array.from({ length: MAX_CARDS }, () => READING)],
  ])('%s is read', (_, gpus) => {
    const decoded = beat(gpus);
    expect(decoded).toMatchObject({ kind: 'message', message: gpus === undefined ? {} : { gpus } });
  });

  test.each([
    ['one card too many', Array.from({ length: MAX_CARDS + 1 }, () => READING)],
    ['no list', READING],
    ['a figure as text', [{ ...READING, use_percent: '97' }]],
    ['a use of more than all', [{ ...READING, use_percent: 101 }]],
    ['negative memory', [{ ...READING, memory_used_mib: -1 }]],
    ['more memory than there is', [{ ...READING, memory_used_mib: Number.MAX_SAFE_INTEGER }]],
    ['a temperature of the sun', [{ ...READING, temperature_c: 5_500 }]],
    ['negative power', [{ ...READING, power_watts: -0.5 }]],
    ['a figure left out', [{ use_percent: 1, memory_used_mib: 1, temperature_c: 1 }]],
    ['an object as a figure', [{ ...READING, power_watts: { toString: 'x' } }]],
  ])('with %s is refused', (_, gpus) => {
    expect(beat(gpus).kind).toBe('malformed');
  });

  test('with more about a card than that is read without it', () => {
    const decoded = beat([{ ...READING, processes: ['game.exe'] }]);
    expect(decoded).toHaveProperty('message.gpus', [READING]);
  });
});

describe('what a driver says', () => {
  test('is told as it is', () => {
    expect(believableReading(READING)).toEqual(READING);
    expect(believableReading(UNKNOWN)).toEqual(UNKNOWN);
  });

  test.each<[keyof typeof READING, number]>([
    ['use_percent', 255],
    ['memory_used_mib', 2 ** 53],
    ['temperature_c', 65_535],
    ['power_watts', Infinity],
  ])('of its %s and cannot be, %d, is not known', (figure, value) => {
    const reading = believableReading({ ...READING, [figure]: value });
    expect(reading).toEqual({ ...READING, [figure]: null });
    expect(cardReading.safeParse(reading).success).toBe(true);
  });
});
