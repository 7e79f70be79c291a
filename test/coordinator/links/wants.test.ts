import type { Wanted } from '@inference-gateway/coordinator/core/routing/links';
import { Wants } from '@inference-gateway/coordinator/links/wants';
import type { Holder } from '@inference-gateway/coordinator/links/wants';
import { NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import { expect, test } from 'vitest';

class MadeUpHolder implements Holder {
  readonly told: string[] = [];

  wanted(want: number, { excluded }: Wanted): void {
    this.told.push(`want ${want} without ${[...excluded].join(' ')}`);
  }

  unwanted(want: number): void {
    this.told.push(`unwant ${want}`);
  }
}

/** A call that waits, which two others know. */
function openWait(takes: () => boolean) {
  const wants = new Wants();
  const [one, other] = [new MadeUpHolder(), new MadeUpHolder()];
  for (const holder of [one, other]) wants.tell(holder);
  const wanted: Wanted = {
    caller: { memberId: 'anna', scope: 'any' },
    serviceType: 'llm',
    model: 'm',
    needs: NO_NEEDS,
    excluded: new Set(['old']),
    take: () => {
      if (!takes()) return false;
      want.end();
      return true;
    },
  };
  const want = wants.add(wanted);
  const offer = (number: number, providerId: string): void =>
    wants.offered({ want: number, providerId, serviceId: 's' }, one);
  return { one, other, want, offer };
}

test('an offer that cannot be used costs the call no turn with other providers', () => {
  const { one, other, want, offer } = openWait(() => false);
  offer(1, 'paused');
  const told = ['want 1 without old', 'unwant 1', 'want 2 without old paused'];
  expect([one.told, other.told]).toEqual([told, told]);
  // Of the former one, which may still be on its way.
  offer(1, 'paused');
  offer(2, 'paused as well');
  expect(one.told.slice(3)).toEqual(['unwant 2', 'want 3 without old paused paused as well']);
  want.end();
  want.end();
  expect(other.told.slice(5)).toEqual(['unwant 3']);
});

test('the node that offered the slot is told by the call alone that the wait is over', () => {
  const { one, other, offer } = openWait(() => true);
  offer(1, 'den-pc');
  expect([one.told.slice(1), other.told.slice(1)]).toEqual([[], ['unwant 1']]);
});
