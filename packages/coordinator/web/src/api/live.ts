/**
 * One WebSocket per tab. It only says what may have changed. Without it the page shows the same
 * data, up to two seconds later.
 */
import { Cell } from './cell.js';

export type Topic = 'jobs' | 'queue' | 'providers' | 'pulls';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

export const isLive = new Cell(false);

const listeners = new Map<Topic, Set<() => void>>();
let socket: WebSocket | null = null;
let retryMs = FIRST_RETRY_MS;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Calls the listener at each hint. Returns a function that unsubscribes it. */
export function onTopic(topic: Topic, listener: () => void): () => void {
  const set = listeners.get(topic) ?? new Set();
  listeners.set(topic, set);
  set.add(listener);
  return () => void set.delete(listener);
}

export function startLive(): void {
  stopLive();
  const { protocol, host } = location;
  const opened = new WebSocket(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}/api/live`);
  socket = opened;
  opened.addEventListener('open', () => {
    isLive.value = true;
    retryMs = FIRST_RETRY_MS;
  });
  opened.addEventListener('message', ({ data }) => tell(String(data)));
  opened.addEventListener('close', () => {
    if (socket !== opened) return;
    isLive.value = false;
    // Jitter: not all tabs reconnect to a restarted coordinator at the same moment.
    retry = setTimeout(startLive, retryMs * (0.5 + Math.random()));
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  });
}

export function stopLive(): void {
  clearTimeout(retry);
  const closing = socket;
  socket = null;
  isLive.value = false;
  closing?.close();
}

function tell(text: string): void {
  const { topic } = JSON.parse(text) as { topic: Topic };
  for (const listener of listeners.get(topic) ?? []) listener();
}
