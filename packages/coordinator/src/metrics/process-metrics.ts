/**
 * Memory, CPU time, event loop and garbage collection, as prom-client's default metrics have them.
 * They are the process's, whoever asks, and prom-client cannot stop collecting them: so they are
 * collected once a process, and from the first time that somebody wants to read them.
 */
import { Registry, collectDefaultMetrics } from 'prom-client';

let collected: Registry | null = null;

export function processMetrics(): Registry {
  if (collected !== null) return collected;
  collected = new Registry();
  collectDefaultMetrics({ register: collected });
  return collected;
}
