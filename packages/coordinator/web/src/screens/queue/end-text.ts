import { leftText } from '@inference-gateway/shared/time-text';

const MINUTE_S = 60;

/** `ends in about 13 min`; an end that is not known is said to be so. */
export function endText(seconds: number | null): string {
  if (seconds === null) return 'end unknown';
  if (seconds <= MINUTE_S) return 'ends within a minute';
  return `ends in about ${leftText(seconds * 1_000)}`;
}
