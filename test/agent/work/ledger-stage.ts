/** A ledger with clocks that a test sets, and work for it. */
import { TodayFile } from '@inference-gateway/agent/state/today-file';
import { Ledger } from '@inference-gateway/agent/work/ledger';
import type { LedgerOptions } from '@inference-gateway/agent/work/ledger';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Message } from '@inference-gateway/shared/protocol/messages';

/** Noon of a day, on this machine's wall. */
export const NOON = new Date(2026, 2, 14, 12).getTime();

export class LedgerStage {
  readonly ledger: Ledger;
  nowMs = 0;
  wallMs = NOON;

  /** With a folder, today's sums are kept in it. */
  constructor(stateDir: string | null = null, options: Partial<LedgerOptions> = {}) {
    this.ledger = new Ledger({
      file: stateDir === null ? null : new TodayFile(stateDir),
      logger: createLogger('silent'),
      clock: { now: () => this.wallMs, steady: () => this.nowMs },
      ...options,
    });
  }

  pass(seconds: number): void {
    this.nowMs += seconds * 1_000;
    this.wallMs += seconds * 1_000;
  }

  /** The cards take so many watts each from now on. */
  sample(...watts: (number | null)[]): void {
    const cards = watts.map((powerWatts) => ({
      usePercent: null,
      memoryUsedMib: null,
      temperatureC: null,
      powerWatts,
    }));
    this.ledger.sampled({ at: this.nowMs, cards, processes: null });
  }

  /** A run of ten seconds that ended well. */
  serve(open: Partial<Message<'OPEN'>> = {}): void {
    const record = this.ledger.begin(opened(open));
    this.pass(10);
    record.answering(200);
    record.passed(100);
    record.succeeded({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 });
  }
}

export function opened(changes: Partial<Message<'OPEN'>> = {}): Message<'OPEN'> {
  return {
    t: 'OPEN',
    stream: 1,
    kind: 'sync',
    endpoint: 'chat',
    service_id: 'llm-1',
    model: 'tiny',
    caller: { name: 'Ben', own: false },
    deadline_ms: 0,
    attempt: 1,
    request_id: 'req_1',
    ...changes,
  };
}
