/** What the counters of a program report, and how they are reached. */
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How often each thing happened, and the bytes of all together. */
export type Counts = Record<string, { times: number; bytes: number }>;

export interface ThreadCounts {
  readonly main: Counts;
  readonly threads: Counts;
}

/** Shares of the CPU time, or allocated bytes, of the main thread, by part of the program. */
export type Sums = Record<string, number>;

export function counterSocket(pid: number): string {
  return join(tmpdir(), `gateway-bench-${pid}.sock`);
}

/** Sends a command to the counters of a process, and returns their reply. */
export async function tellCounters(pid: number, command: string): Promise<unknown> {
  const connection = connect(counterSocket(pid));
  connection.write(command);
  let reply = '';
  for await (const text of connection.setEncoding('utf8')) reply += String(text);
  return reply === '' ? null : (JSON.parse(reply) as unknown);
}
