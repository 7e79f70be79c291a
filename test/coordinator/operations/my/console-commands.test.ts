import { Turns } from '@inference-gateway/coordinator/operations/my/console-commands';
import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';

/** A change that goes on until its gate opens, and notes when it begins. */
function held(log: string[], name: string, gate: Promise<unknown>) {
  return async (): Promise<string> => {
    log.push(name);
    await gate;
    return name;
  };
}

test('one change of a member’s comes after the other, and nobody waits for another', async () => {
  const turns = new Turns();
  const log: string[] = [];
  const gate = new EventEmitter();
  const first = turns.take('anna', held(log, 'first', once(gate, 'open')));
  const second = turns.take('anna', held(log, 'second', Promise.resolve()));
  expect(await turns.take('ben', held(log, 'of ben', Promise.resolve()))).toBe('of ben');
  expect(log).toEqual(['first', 'of ben']);
  gate.emit('open');
  expect([await first, await second]).toEqual(['first', 'second']);
  expect(log).toEqual(['first', 'of ben', 'second']);
});

test('one that fails is told of it, and the next one has its turn', async () => {
  const turns = new Turns();
  const failed = turns.take('anna', () => Promise.reject(new Error('no room')));
  const next = turns.take('anna', () => Promise.resolve('done'));
  await expect(failed).rejects.toThrow('no room');
  expect(await next).toBe('done');
});
