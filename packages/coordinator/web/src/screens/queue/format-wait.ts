import { formatMs } from '../../ui/text/format.js';

/** Waits are told in whole seconds: `4 s`, `3 min 5 s` */
export function formatWait(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : formatMs(seconds * 1_000);
}
