/** Runs in its own thread: the measurement must not wait while megabytes are sent. */
import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url } = workerData as { readonly url: string };
const agent = new Agent({ keepAlive: true });
const state = { isOver: false, longest: 0 };

parentPort?.once('message', () => (state.isOver = true));

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent }, (response) => response.resume().once('close', resolve));
    sent.once('error', reject);
  });
}

await ask();
while (!state.isOver) {
  const sentAt = performance.now();
  await ask();
  state.longest = Math.max(state.longest, performance.now() - sentAt);
}
agent.destroy();
// A thread, not a window.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(state.longest);
