/** JSON chats: as fast as the connections carry them, or at a steady rate. */
import { percentilesOf } from '../statistics.js';
import { Connection } from './connection.js';
import { jsonRequest } from './job.js';
import type { Job, RequestsResult } from './job.js';

export async function closedLoad(job: Extract<Job, { kind: 'closed' }>): Promise<RequestsResult> {
  const request = jsonRequest(job.target);
  const latenciesMs: number[] = [];
  let left = job.maxRequests;
  const start = performance.now();
  const until = start + job.durationMs;
  const worker = async (): Promise<void> => {
    const connection = new Connection(job.target.origin);
    while (left-- > 0 && performance.now() < until) {
      latenciesMs.push(await timed(connection, request));
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: job.connections }, worker));
  return result(latenciesMs, start);
}

/**
 * Latency counts from the sending: a connection is opened whenever none is free, so none ever
 * waits.
 */
export async function steadyLoad(job: Extract<Job, { kind: 'steady' }>): Promise<RequestsResult> {
  const request = jsonRequest(job.target);
  const latenciesMs: number[] = [];
  const free: Connection[] = [];
  const underWay: Promise<void>[] = [];
  const start = performance.now();
  const fire = async (): Promise<void> => {
    const connection = free.pop() ?? new Connection(job.target.origin);
    latenciesMs.push(await timed(connection, request));
    free.push(connection);
  };
  while (performance.now() < start + job.durationMs) {
    const due = ((performance.now() - start) * job.perSecond) / 1_000;
    while (underWay.length < due) underWay.push(fire());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(underWay);
  for (const connection of free) connection.close();
  return result(latenciesMs, start);
}

async function timed(connection: Connection, request: Buffer): Promise<number> {
  const sentAt = performance.now();
  await connection.send(request);
  return performance.now() - sentAt;
}

function result(latenciesMs: number[], start: number): RequestsResult {
  const seconds = (performance.now() - start) / 1_000;
  return { requests: latenciesMs.length, seconds, latencyMs: percentilesOf(latenciesMs) };
}
