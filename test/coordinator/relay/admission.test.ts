import { Admission } from '@inference-gateway/coordinator/relay/admission';
import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';

const never = new AbortController().signal;
setMaxListeners(0, never);

function turnstile(limit: number, waitMs = 10_000) {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const admission = new Admission({ limit, waitMs, closing: closing.signal, slots: null });
  const enter = async (...asked: Parameters<Admission['enter']>): Promise<void> => {
    await admission.enter(...asked);
  };
  const gate = { enter, leave: (memberId: string): void => admission.leave(memberId) };
  return { closing, gate };
}

type Gate = ReturnType<typeof turnstile>['gate'];

/** Enters the gate, then adds the name to the log. */
function entering(gate: Gate, name: string, log: string[]): Promise<void> {
  const member = name[0] ?? '';
  return gate.enter(member, never).then(() => void log.push(name));
}

describe('the turnstile', () => {
  it('lets a member in up to the limit, and one more for each that leaves, in order', async () => {
    const { gate } = turnstile(2);
    const log: string[] = [];
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => entering(gate, name, log));
    await Promise.all(all.slice(0, 2));
    expect(log).toEqual(['a1', 'a2']);
    gate.leave('a');
    await all[2];
    gate.leave('a');
    await all[3];
    expect(log).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  it('keeps no member waiting for another', async () => {
    const { gate } = turnstile(1);
    const log: string[] = [];
    await entering(gate, 'a1', log);
    void entering(gate, 'a2', log);
    await entering(gate, 'b1', log);
    expect(log).toEqual(['a1', 'b1']);
    gate.leave('a');
  });

  it('refuses a line of a thousand with queue_full', async () => {
    const { gate, closing } = turnstile(1);
    await gate.enter('a', never);
    const waiting = Array.from({ length: 1_000 }, () => gate.enter('a', never));
    await expect(gate.enter('a', never)).rejects.toMatchObject({ code: 'queue_full', status: 429 });
    closing.abort();
    const ends = await Promise.allSettled(waiting);
    expect(ends.every((end) => end.status === 'rejected')).toBe(true);
  });

  it('gives up after its time with capacity_exhausted', async () => {
    const { gate } = turnstile(1, 20);
    await gate.enter('a', never);
    await expect(gate.enter('a', never)).rejects.toMatchObject({ code: 'capacity_exhausted' });
  });

  it('tells who waits while the coordinator stops that it restarts', async () => {
    const { gate, closing } = turnstile(1);
    await gate.enter('a', never);
    const waiting = gate.enter('a', never);
    closing.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('forgets a caller who left the line: the next one gets the place', async () => {
    const { gate } = turnstile(1);
    await gate.enter('a', never);
    const leaving = new AbortController();
    const left = gate.enter('a', leaving.signal);
    const next = gate.enter('a', never);
    leaving.abort();
    await expect(left).rejects.toThrow();
    gate.leave('a');
    await next;
    gate.leave('a');
    await gate.enter('a', never);
  });

  it("holds to a member's own limit, told with each call", async () => {
    const { gate } = turnstile(1);
    await gate.enter('a', never, 2);
    await gate.enter('a', never, 2);
    const log: string[] = [];
    const third = gate.enter('a', never, 2).then(() => void log.push('a3'));
    await gate.enter('b', never);
    expect(log).toEqual([]);
    gate.leave('a');
    await third;
  });

  it('lets in who waits when the limit is raised, before the call that raises it', async () => {
    const { gate } = turnstile(1);
    const log: string[] = [];
    await gate.enter('a', never);
    const waiting = ['a1', 'a2'].map((name) => entering(gate, name, log));
    const last = gate.enter('a', never, 3).then(() => void log.push('a3'));
    await Promise.all(waiting);
    expect(log).toEqual(['a1', 'a2']);
    gate.leave('a');
    await last;
  });

  it('lets nobody in until a lowered limit is kept', async () => {
    const { gate } = turnstile(3);
    const log: string[] = [];
    for (let i = 0; i < 3; i++) await gate.enter('a', never);
    const waiting = gate.enter('a', never, 1).then(() => void log.push('a4'));
    gate.leave('a');
    gate.leave('a');
    await Promise.resolve();
    expect(log).toEqual([]);
    gate.leave('a');
    await waiting;
    expect(log).toEqual(['a4']);
  });

  it('forgets the limit of a member who has no call under way', async () => {
    const { gate } = turnstile(1, 20);
    await gate.enter('a', never, 5);
    gate.leave('a');
    await gate.enter('a', never);
    await expect(gate.enter('a', never)).rejects.toThrow('You may have 1 calls under way');
  });
});
