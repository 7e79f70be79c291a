/**
 * The thread of the database. A commit that waits for the disk blocks only this thread: on the main
 * thread, up to 285 ms were measured, in which all streams stopped.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openEngine } from './engine.js';
import type { EngineOptions } from './engine.js';
import type { Group } from './group.js';

const port = parentPort;
if (port === null) throw new Error('worker.js runs as a worker thread only');

const engine = openEngine(workerData as EngineOptions);

port.on('message', (message: Group | 'close') => {
  if (message !== 'close') return port.postMessage(engine.commit(message));
  engine.close();
  port.close();
});
