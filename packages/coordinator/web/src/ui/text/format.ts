/** Formats numbers and durations for people. */
import { leftText, pastText } from '@inference-gateway/shared/time-text';

const LOCALE = 'en';
const counts = new Intl.NumberFormat(LOCALE);
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });

/** `12,345` */
export function formatCount(count: number): string {
  return counts.format(count);
}

/** `12.3K`, for narrow places. */
export function formatShort(count: number): string {
  return compact.format(count);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.5 GiB` */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const amount = bytes / 1024 ** power;
  const digits = power === 0 || amount >= 100 ? 0 : 1;
  return `${amount.toFixed(digits)} ${UNITS[power]}`;
}

/** Formats MiB, the unit in which agents report the memory of GPUs. */
export function formatMib(mib: number): string {
  return formatBytes(mib * 1024 ** 2);
}

/** Slower speeds are shown with one decimal. */
const WHOLE_SPEED_FROM = 20;

/** `8.4 tokens/s`, `120 tokens/s` */
export function formatSpeed(tokensPerSecond: number): string {
  const isSlow = tokensPerSecond < WHOLE_SPEED_FROM;
  const amount = isSlow ? tokensPerSecond.toFixed(1) : formatCount(Math.round(tokensPerSecond));
  return `${amount} tokens/s`;
}

/** Smaller ones are shown in joules alone: 0.01 Wh. */
const WATT_HOURS_FROM = 36;
const JOULES_A_WATT_HOUR = 3_600;
const twoDigits = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 2 });

/** `1.2 Wh (4,300 J)`, `12 J`: two digits, which is what sensors are good for. */
export function formatEnergy(joules: number): string {
  const text = `${twoDigits.format(joules)} J`;
  if (joules < WATT_HOURS_FROM) return text;
  return `${twoDigits.format(joules / JOULES_A_WATT_HOUR)} Wh (${text})`;
}

/** `340 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h` */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return pair([Math.floor(seconds / 60), 'min'], [seconds % 60, 's']);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return pair([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min']);
  const hours = Math.floor(minutes / 60);
  return pair([Math.floor(hours / 24), 'd'], [hours % 24, 'h']);
}

function pair([first, unit]: [number, string], [second, smaller]: [number, string]): string {
  return second === 0 ? `${first} ${unit}` : `${first} ${unit} ${second} ${smaller}`;
}

/** `3 min ago`, `in 2 h`, `now` */
export function formatAgo(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 5_000) return 'now';
  return ms > 0 ? `${pastText(ms)} ago` : `in ${leftText(-ms)}`;
}

/** `1 job`, `3 jobs` */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `active` as `Active`, at the beginning of a line. */
export function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
