import type { ShareCaps } from '../../../core/access/sharing.js';

/** The caps of a share as its row has them. */
export interface CapColumns {
  max_slots: number | null;
  max_tokens: number | null;
  hours_from: number | null;
  hours_until: number | null;
  hours_zone: string | null;
}

export function toCaps(row: CapColumns): ShareCaps {
  const { max_slots: slots, max_tokens: maxTokens } = row;
  const { hours_from: from, hours_until: until, hours_zone: timeZone } = row;
  // The table's checks keep the three together.
  const isAlways = from === null || until === null || timeZone === null;
  return { slots, hours: isAlways ? null : { from, until, timeZone }, maxTokens };
}

export function toColumns({ slots, hours, maxTokens }: ShareCaps): CapColumns {
  return {
    max_slots: slots,
    max_tokens: maxTokens,
    hours_from: hours?.from ?? null,
    hours_until: hours?.until ?? null,
    hours_zone: hours?.timeZone ?? null,
  };
}
