/** The thread that measures files one at a time. It answers each with its seconds or null. */
import { parentPort } from 'node:worker_threads';
import type { Measurement } from './duration.js';
import { measure } from './measure.js';

parentPort?.on('message', (file: Measurement) => void answer(file));

async function answer(file: Measurement): Promise<void> {
  const seconds = await measure(file).catch(() => null);
  // A thread, not a window.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(seconds);
}
