/** Daily hours of a share, or in which an owner lets others use a service. */
import { SYSTEM_CLOCK } from './clock.js';

const MINUTES_A_DAY = 24 * 60;

/** If it starts later than it ends, it spans midnight. */
export interface DayHours {
  /** Minutes since midnight, in the time zone; the first open minute. */
  readonly from: number;
  /** The first closed minute. */
  readonly until: number;
  /** An IANA name: `Europe/Berlin`. */
  readonly timeZone: string;
}

/** `now`: Unix ms. */
export function isOpenAt({ from, until, timeZone }: DayHours, now: number): boolean {
  const minute = minuteOfDay(now, timeZone);
  return from < until ? minute >= from && minute < until : minute >= from || minute < until;
}

/** `22:00-07:00` and a time zone; null if either is invalid. */
export function parseDayHours(text: string, timeZone: string): DayHours | null {
  const match = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (match === null || !isTimeZone(timeZone)) return null;
  const [from, until] = [minutes(match[1], match[2]), minutes(match[3], match[4])];
  return from === until ? null : { from, until, timeZone };
}

/** `22:00-07:00 Europe/Berlin` */
export function formatDayHours({ from, until, timeZone }: DayHours): string {
  return `${clock(from)}-${clock(until)} ${timeZone}`;
}

/**
 * The time zone of this machine: an IANA name. If `TZ` is a path or empty there is no name: then
 * the clock's offset from UTC, in whole hours, is used.
 */
export function ownTimeZone(): string {
  const timeZone: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (timeZone !== undefined && isTimeZone(timeZone)) return timeZone;
  const hours = Math.round(new Date(SYSTEM_CLOCK.now()).getTimezoneOffset() / 60);
  // `Etc/GMT` names count westwards, as the offset does.
  return hours === 0 ? 'UTC' : `Etc/GMT${hours > 0 ? '+' : ''}${hours}`;
}

function isTimeZone(name: string): boolean {
  try {
    clockOf(name);
    return true;
  } catch {
    return false;
  }
}

/** One per zone: creating one takes 50 µs, and every call may need it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/** Throws if there is no such zone. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const options = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat('en-GB', options);
  clocks.set(timeZone, format);
  return format;
}

function minuteOfDay(now: number, timeZone: string): number {
  const [hour, minute] = clockOf(timeZone).format(now).split(':');
  return minutes(hour, minute) % MINUTES_A_DAY;
}

function minutes(hour = '0', minute = '0'): number {
  return Number(hour) * 60 + Number(minute);
}

function clock(minute: number): string {
  const hour = Math.floor(minute / 60);
  return `${String(hour).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
