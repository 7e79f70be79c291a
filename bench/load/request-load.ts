/** Requests: as fast as the connections carry them, or chats at a steady rate. */
import { percentilesOf } from '../statistics.js';
import { AnswerGlimpse } from './answer-glimpse.js';
import { jsonRequest } from './chat-request.js';
import { Connection } from './connection.js';
import type { Job, RequestsResult } from './job.js';
import { prepareCall } from './prepared-call.js';
import type { PreparedCall } from './prepared-call.js';

export async function closedLoad(job: Extract<Job, { kind: 'closed' }>): Promise<RequestsResult> {
  const call = await prepareCall(job.target, job.call);
  const latenciesMs: number[] = [];
  let left = job.maxRequests;
  const start = performance.now();
  const until = start + job.durationMs;
  const worker = async (): Promise<void> => {
    const connection = new Connection(job.target.origin);
    while (left-- > 0 && performance.now() < until) {
      latenciesMs.push(await timed(connection, call));
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
  const call: PreparedCall = { request: jsonRequest(job.target), check: null };
  const latenciesMs: number[] = [];
  const free: Connection[] = [];
  const underWay: Promise<void>[] = [];
  const start = performance.now();
  const fire = async (): Promise<void> => {
    const connection = free.pop() ?? new Connection(job.target.origin);
    latenciesMs.push(await timed(connection, call));
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

async function timed(connection: Connection, { request, check }: PreparedCall): Promise<number> {
  const answer = check === null ? null : new AnswerGlimpse();
  const sentAt = performance.now();
  await connection.send(request, answer === null ? null : (bytes) => answer.add(bytes));
  const tookMs = performance.now() - sentAt;
  if (answer !== null) check?.(answer);
  return tookMs;
}

function result(latenciesMs: number[], start: number): RequestsResult {
  const seconds = (performance.now() - start) / 1_000;
  return { requests: latenciesMs.length, seconds, latencyMs: percentilesOf(latenciesMs) };
}
