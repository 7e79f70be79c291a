/** Times of a transcript, in seconds. */
import type { JsonObject } from './json.js';

export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Within `limit`, where the audio ends: whisper's last segment may end long after it (30.0 was seen
 * for 3.56 seconds).
 */
export function readSpan(timed: JsonObject, limit: number): TimeSpan {
  const start = Math.min(readSeconds(timed['start']) ?? 0, limit);
  const end = Math.min(readSeconds(timed['end']) ?? start, limit);
  return { start, end: Math.max(start, end) };
}

/** Null for what is no time. */
export function readSeconds(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : null;
}
