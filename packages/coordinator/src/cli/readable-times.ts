import { isoTime } from './options.js';

/** Only times end so. */
const TIME_NAME = /_(at|before|until)$/;

/** A record with its times as people read them. */
export function withReadableTimes(
  record: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const readable = Object.entries(record).map(([name, value]): [string, unknown] => [
    name,
    TIME_NAME.test(name) && typeof value === 'number' ? isoTime(value) : value,
  ]);
  return Object.fromEntries(readable);
}
