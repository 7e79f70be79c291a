import type { Database } from 'better-sqlite3';
import type { UsageRow } from '../port.js';
import type { Operations } from './operations.js';

export function usageOperations(database: Database): Pick<Operations, 'writeUsage'> {
  // A batch whose commit failed is sent again, and may have been committed after all: once is
  // enough.
  const insert = database.prepare<UsageRow>(
    `insert into usage (
       request_id, at, member_id, key_id, provider_id, model, service_type, endpoint,
       prompt_tokens, completion_tokens, queue_ms, first_byte_ms, total_ms, attempts,
       outcome, error_code, source)
     values (
       @requestId, @at, @memberId, @keyId, @providerId, @model, @serviceType, @endpoint,
       @promptTokens, @completionTokens, @queueMs, @firstByteMs, @totalMs, @attempts,
       @outcome, @errorCode, @source)
     on conflict (request_id) do nothing`,
  );
  return { writeUsage: (rows) => rows.forEach((row) => insert.run(inWholeMs(row))) };
}

/** Clocks measure fractions, and a STRICT integer column refuses them. */
function inWholeMs(row: UsageRow): UsageRow {
  return {
    ...row,
    queueMs: Math.round(row.queueMs),
    firstByteMs: row.firstByteMs === null ? null : Math.round(row.firstByteMs),
    totalMs: Math.round(row.totalMs),
  };
}
