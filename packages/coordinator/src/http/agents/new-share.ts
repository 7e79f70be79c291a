/** What an agent sends to share something of its provider. */
import { parseDayHours } from '@inference-gateway/shared/day-hours';
import { ApiError } from '@inference-gateway/shared/errors';
import * as z from 'zod';
import { hoursFault, SHARE_LIMITS } from '../../core/access/sharing.js';
import type { ShareCaps } from '../../core/access/sharing.js';

const subject = z.string().min(1).max(SHARE_LIMITS.subjectCharacters).nullish();

/** Strict: a cap that is mistyped would share more than was wanted. */
export const newShare = z.strictObject({
  /** Name or id. */
  network: z.string().min(1).max(64),
  service_id: subject,
  model: subject,
  slots: z.int().min(1).max(SHARE_LIMITS.slots).nullish(),
  /** `22:00-07:00` */
  hours: z.string().max(64).nullish(),
  /** An IANA name, for the hours. */
  time_zone: z.string().max(64).nullish(),
  max_tokens: z.int().min(1).max(SHARE_LIMITS.tokens).nullish(),
});

export type NewShareBody = z.output<typeof newShare>;

export function refuseTwoSubjects({ service_id: service, model }: NewShareBody): void {
  if ((service ?? null) === null || (model ?? null) === null) return;
  const message = 'A share binds one service or one model: send service_id or model, not both.';
  throw new ApiError('invalid_value', message, { param: 'model' });
}

export function readCaps(body: NewShareBody): ShareCaps {
  return { slots: body.slots ?? null, maxTokens: body.max_tokens ?? null, hours: readHours(body) };
}

function readHours({ hours = null, time_zone: timeZone = null }: NewShareBody): ShareCaps['hours'] {
  if (hours === null && timeZone === null) return null;
  if (hours === null || timeZone === null) {
    const message = 'A time zone is that of hours: send hours with time_zone.';
    throw new ApiError('invalid_value', message, { param: 'time_zone' });
  }
  const read = parseDayHours(hours, timeZone);
  if (read !== null) return read;
  const param = parseDayHours(hours, 'UTC') === null ? 'hours' : 'time_zone';
  throw new ApiError('invalid_value', `'${param}': ${hoursFault(hours, timeZone)}`, { param });
}
