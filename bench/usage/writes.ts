/** What the sums of periods cost when usage is written, on SQLite, without waiting for the disk. */
import { join } from 'node:path';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { UsageRow } from '@inference-gateway/coordinator/store/port';
import { addToPeriods } from '@inference-gateway/coordinator/store/operations/usage/periods';
import { writeUsage } from '@inference-gateway/coordinator/store/operations/usage/usage';
import { carryOutOn } from '@inference-gateway/coordinator/store/sqlite/carry-out';
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { requestId } from '@inference-gateway/shared/ids';
import type { Samples } from '../samples.js';

interface Group {
  readonly says: string;
  readonly rows: number;
  readonly members: number;
}

/** By metric. */
export const GROUPS: Readonly<Record<string, Group>> = {
  one: { says: 'one request, as at the end of a job', rows: 1, members: 1 },
  few: { says: 'group of 500 requests, of 20 members', rows: 500, members: 20 },
  many: { says: 'group of 500 requests, of 500 members', rows: 500, members: 500 },
};

const TRANSACTIONS = 60;
const WARM_TRANSACTIONS = 10;
const PROVIDERS = 20;
const MODELS = 10;
const CONTEXT = { actor: 'system', at: 0, nodeId: 'bench' };

export async function measureWrites(folder: string, samples: Samples): Promise<void> {
  await (await openStore(folder)).close();
  const database = openDatabase(join(folder, DATABASE_FILE));
  database.pragma('synchronous = off');
  const carryOut = carryOutOn(database);
  for (const [metric, group] of Object.entries(GROUPS)) {
    const times = { whole: 0, periods: 0 };
    for (let i = -WARM_TRANSACTIONS; i < TRANSACTIONS; i++) {
      const rows = drawRows(group);
      const startedAt = performance.now();
      database.transaction(() => carryOut(writeUsage(rows), CONTEXT)).immediate();
      const writtenAt = performance.now();
      // Once more, alone: the sums are then wrong, and as expensive.
      database.transaction(() => carryOut(addToPeriods(rows), CONTEXT)).immediate();
      if (i < 0) continue;
      times.whole += writtenAt - startedAt;
      times.periods += performance.now() - writtenAt;
    }
    const requests = TRANSACTIONS * group.rows;
    samples.add('sqlite', `write.${metric}.whole`, (times.whole / requests) * 1_000);
    samples.add('sqlite', `write.${metric}.periods`, (times.periods / requests) * 1_000);
  }
  database.close();
}

function drawRows({ rows, members }: Group): UsageRow[] {
  const at = Date.now();
  return Array.from({ length: rows }, (_, i) => ({
    requestId: requestId(at),
    at,
    memberId: `01MEMBER${String(i % members).padStart(18, '0')}`,
    keyId: 'bench',
    providerId: `01PROVIDER${String(i % PROVIDERS).padStart(16, '0')}`,
    model: `organization/model-${i % MODELS}`,
    serviceType: 'llm',
    endpoint: 'chat',
    promptTokens: 100 + i,
    completionTokens: 50 + i,
    estimated: false,
    audioMs: 0,
    images: 0,
    queueMs: i % 40,
    firstByteMs: 100 + i,
    totalMs: 1_000 + i * 10,
    attempts: 1,
    outcome: 'ok',
    errorCode: null,
    source: 'api',
  }));
}
