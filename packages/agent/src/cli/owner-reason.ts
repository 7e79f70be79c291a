/** Why not everybody's work is let in: as it crosses the control socket, and in words. */
import { assertNever } from '@inference-gateway/shared/assert';
import { isoTime } from '@inference-gateway/shared/program/print';
import * as z from 'zod';
import type { AgentStatus } from '../agent.js';
import { decodeAnswer } from './decode-answer.js';

type OwnerReason = NonNullable<AgentStatus['ownerReason']>;

export const ownerReason: z.ZodType<OwnerReason> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('draining') }),
  z.object({ kind: z.literal('paused'), until: z.number().nullable() }),
  z.object({ kind: z.literal('card_in_use'), program: z.string().nullable() }),
  z.object({ kind: z.literal('outside_hours'), hours: z.string() }),
]);

/** Null: everybody's is. */
export function decodeOwnerReason(value: unknown): OwnerReason | null {
  return decodeAnswer(ownerReason.nullable(), value ?? null);
}

/** A sentence without its capital and full stop. */
export function ownerReasonText(reason: OwnerReason): string {
  switch (reason.kind) {
    case 'draining':
      return 'nothing is let in until "gateway-agent resume"';
    case 'paused':
      return `only your own work is let in until ${endOf(reason.until)}`;
    case 'card_in_use':
      return (
        `the card is in use${reason.program === null ? '' : ` by ${reason.program}`}: ` +
        "others' work is let in once it has been free for a minute"
      );
    case 'outside_hours':
      return `others' work is let in at ${reason.hours} only`;
    default:
      return assertNever(reason);
  }
}

function endOf(until: number | null): string {
  return until === null ? '"gateway-agent resume"' : isoTime(until);
}
