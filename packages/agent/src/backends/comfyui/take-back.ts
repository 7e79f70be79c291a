/**
 * A job that nobody wants any more. ComfyUI computes on when a connection closes, so the job is
 * taken out of the queue, or interrupted where it runs, and waited for: until then the card is
 * busy.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LocalFailure } from '../backend.js';
import { askComfy, orderComfy } from './comfy-server.js';
import type { ComfyServer } from './comfy-server.js';

export type Place = 'running' | 'pending' | 'gone';

const LOOK_MS = 250;
/** A job that does not end is given up after this time. */
const WIND_DOWN_MS = 10 * 60_000;

/** Does not throw. */
export async function takeBack(server: ComfyServer, promptId: string): Promise<void> {
  const end = performance.now() + WIND_DOWN_MS;
  while (performance.now() < end) {
    const place = await lastPlace(server, promptId);
    if (place === 'gone') return;
    if (place === 'pending') await orderComfy(server, '/queue', { delete: [promptId] });
    // Before 0.3.57 `prompt_id` is not read and whatever runs is interrupted: hence the look first.
    if (place === 'running') await orderComfy(server, '/interrupt', { prompt_id: promptId });
    await pause(LOOK_MS);
  }
}

/** Throws a `LocalFailure`. */
export async function placeOf(
  server: ComfyServer,
  promptId: string,
  signal: AbortSignal,
): Promise<Place> {
  const { queue_running: running, queue_pending: pending } = await askComfy(
    server,
    '/queue',
    signal,
  );
  if (holds(running, promptId)) return 'running';
  return holds(pending, promptId) ? 'pending' : 'gone';
}

const NEVER = new AbortController().signal;

/** Null where it cannot be told. With the server its jobs are gone too. */
async function lastPlace(server: ComfyServer, promptId: string): Promise<Place | null> {
  try {
    return await placeOf(server, promptId, NEVER);
  } catch (error) {
    const isDown = error instanceof LocalFailure && error.code === 'LOCAL_UNREACHABLE';
    return isDown ? 'gone' : null;
  }
}

/** Each row is `[number, prompt_id, graph, …]`. */
function holds(rows: unknown, promptId: string): boolean {
  return Array.isArray(rows) && rows.some((row) => Array.isArray(row) && row[1] === promptId);
}
