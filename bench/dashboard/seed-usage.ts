/** Usage as the coordinator would have written it, straight into a database that is not open. */
import type { UsageRow } from '@inference-gateway/coordinator/store/port';
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { writeUsage } from '@inference-gateway/coordinator/store/operations/usage/usage';
import { carryOutOn } from '@inference-gateway/coordinator/store/sqlite/carry-out';
import { requestId } from '@inference-gateway/shared/ids';
import { join } from 'node:path';
import type { EnrolledHome } from '../fleet/enroll-homes.js';
import { Random } from '../fleet/random.js';

const SPAN_MS = 90 * 86_400_000;
const ROWS_A_TRANSACTION = 10_000;
/** Whom a member calls: the same few homes most of the time. */
const HOMES_A_MEMBER = 10;
const CACHE_KIB = 256 * 1024;
const SEED = 3;

interface Town {
  readonly memberIds: readonly string[];
  readonly homes: readonly EnrolledHome[];
}

/** Spread over members, homes and three months. */
export function seedUsage(folder: string, rows: number, town: Town): void {
  const database = openDatabase(join(folder, DATABASE_FILE));
  // Nothing of it has to survive a power cut.
  database.pragma('synchronous = OFF');
  database.pragma(`cache_size = -${CACHE_KIB}`);
  const carryOut = carryOutOn(database);
  const random = new Random(SEED);
  const firstAt = Date.now() - SPAN_MS;
  const writeChunk = database.transaction((from: number, to: number) => {
    const drawn = Array.from({ length: to - from }, (_, i) =>
      drawRow(town, random, Math.floor(firstAt + ((from + i) * SPAN_MS) / rows)),
    );
    carryOut(writeUsage(drawn), { actor: 'system', at: firstAt, nodeId: 'bench' });
  });
  for (let from = 0; from < rows; from += ROWS_A_TRANSACTION) {
    writeChunk.immediate(from, Math.min(rows, from + ROWS_A_TRANSACTION));
  }
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

function drawRow({ memberIds, homes }: Town, random: Random, at: number): UsageRow {
  const member = random.below(memberIds.length);
  const home = homes[(member * HOMES_A_MEMBER + random.below(HOMES_A_MEMBER)) % homes.length];
  const models = home?.plan.models ?? [];
  const isFailed = random.chance(0.02);
  return {
    requestId: requestId(at),
    at,
    memberId: memberIds[member] ?? '',
    keyId: 'bench',
    providerId: home?.providerId ?? null,
    model: models[random.below(models.length)] ?? '',
    serviceType: 'llm',
    endpoint: 'chat',
    promptTokens: 100 + random.below(900),
    completionTokens: isFailed ? 0 : random.below(500),
    estimated: false,
    audioMs: 0,
    images: 0,
    queueMs: 0,
    firstByteMs: isFailed ? null : 100 + random.below(200),
    totalMs: 500 + random.below(5_000),
    attempts: 1,
    outcome: isFailed ? 'failed' : 'ok',
    errorCode: isFailed ? 'provider_error' : null,
    source: random.chance(0.2) ? 'console' : 'api',
  };
}
