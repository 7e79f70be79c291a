/** Concurrent streamed chats, each on its own connection. */
import { percentilesOf } from '../statistics.js';
import { streamRequest } from './chat-request.js';
import { Connection } from './connection.js';
import type { Job, StreamsResult } from './job.js';
import { stampAgeMs } from './stamp.js';

type StreamsJob = Extract<Job, { kind: 'streams' }>;

export async function streamLoad(job: StreamsJob): Promise<StreamsResult> {
  const tally = new Tally(job.streams);
  const request = streamRequest(job.target, job);
  await Promise.all(Array.from({ length: job.streams }, () => oneStream(job, request, tally)));
  const expected = job.streams * job.chunks;
  if (tally.chunks !== expected) throw new Error(`${tally.chunks} of ${expected} chunks arrived`);
  return {
    chunks: tally.chunks,
    chunksPerSecond: job.intervalMs === 0 ? tally.overallRate() : tally.fullRate(),
    relayMs: percentilesOf(tally.relayMs),
    gapMs: percentilesOf(tally.gapMs),
    firstTokenMs: percentilesOf(tally.firstTokenMs),
  };
}

/** The events that bring text. Others repeat it. */
const DELTAS = {
  chat: '',
  responses: 'event: response.output_text.delta\n',
  messages: 'event: content_block_delta\n',
};

async function oneStream({ target }: StreamsJob, request: Buffer, tally: Tally): Promise<void> {
  const connection = new Connection(target.origin);
  const beginning = DELTAS[target.api ?? 'chat'];
  const sentAt = performance.now();
  let rest = '';
  let lastAt: number | null = null;
  await connection.send(request, (bytes) => {
    const events = (rest + bytes.toString('latin1')).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const relayMs = event.startsWith(beginning) ? stampAgeMs(event) : null;
      if (relayMs === null) continue;
      const now = performance.now();
      if (lastAt === null) tally.first(now - sentAt);
      else tally.gapMs.push(now - lastAt);
      lastAt = now;
      tally.chunk(relayMs);
    }
  });
  tally.ended();
  connection.close();
}

class Tally {
  readonly relayMs: number[] = [];
  readonly gapMs: number[] = [];
  readonly firstTokenMs: number[] = [];
  readonly #streams: number;
  readonly #start = performance.now();
  /** When every stream had begun, and when the first one ended, with the chunks counted by then. */
  #full: readonly [atMs: number, chunks: number] | null = null;
  #thinning: readonly [atMs: number, chunks: number] | null = null;

  constructor(streams: number) {
    this.#streams = streams;
  }

  get chunks(): number {
    return this.relayMs.length;
  }

  first(ms: number): void {
    this.firstTokenMs.push(ms);
    if (this.firstTokenMs.length === this.#streams) this.#full = [performance.now(), this.chunks];
  }

  chunk(relayMs: number): void {
    this.relayMs.push(relayMs);
  }

  ended(): void {
    this.#thinning ??= [performance.now(), this.chunks];
  }

  /** While all streams were running; from the first to the last if they never overlapped. */
  fullRate(): number {
    if (this.#full === null || this.#thinning === null) return this.overallRate();
    const [fromMs, before] = this.#full;
    const [toMs, until] = this.#thinning;
    return toMs > fromMs ? ((until - before) * 1_000) / (toMs - fromMs) : this.overallRate();
  }

  overallRate(): number {
    return (this.chunks * 1_000) / (performance.now() - this.#start);
  }
}
