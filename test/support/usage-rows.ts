/** Metered usage, read from the database file as an operator could. */
import {
  DATABASE_FILE,
  openForReading,
} from '@inference-gateway/coordinator/store/sqlite/database';
import { join } from 'node:path';
import type { TestGateway } from './gateway.js';
import { until } from './until.js';

export interface MeteredRow {
  readonly requestId: string;
  readonly memberId: string;
  readonly keyId: string;
  readonly providerId: string | null;
  readonly model: string;
  readonly serviceType: string;
  readonly endpoint: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly estimated: 0 | 1;
  readonly audioMs: number;
  readonly images: number;
  readonly attempts: number;
  readonly outcome: 'ok' | 'failed' | 'canceled';
  readonly errorCode: string | null;
}

type WithData = Pick<TestGateway, 'dataDir'>;

export function usageRows(gateway: WithData): MeteredRow[] {
  return query<MeteredRow>(
    gateway,
    `select request_id as requestId, member_id as memberId, key_id as keyId,
       provider_id as providerId, model, service_type as serviceType, endpoint,
       prompt_tokens as promptTokens, completion_tokens as completionTokens,
       estimated,
       audio_ms as audioMs, images, attempts, outcome, error_code as errorCode
     from usage`,
  );
}

/** The row of one answer; waits until it is written. */
export function usageOf(gateway: TestGateway, { headers }: Response): Promise<MeteredRow> {
  const id = headers.get('x-request-id');
  const find = () => usageRows(gateway).find(({ requestId }) => requestId === id);
  return until(find, { what: `the usage row of ${id}` });
}

export function query<Row>({ dataDir }: WithData, sql: string): Row[] {
  const database = openForReading(join(dataDir, DATABASE_FILE));
  try {
    return database.prepare<[], Row>(sql).all();
  } finally {
    database.close();
  }
}
