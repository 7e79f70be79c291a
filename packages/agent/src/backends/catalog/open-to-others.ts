/** Whether a service is for others, too, at some moment. */
import { isOpenAt } from '@inference-gateway/shared/day-hours';
import type { ServiceConfig } from '../backend.js';

/** `now` is in Unix ms. */
export function isOpenToOthers(
  { foreign, hours }: Pick<ServiceConfig, 'foreign' | 'hours'>,
  now: number,
): boolean {
  return foreign && (hours === null || isOpenAt(hours, now));
}
