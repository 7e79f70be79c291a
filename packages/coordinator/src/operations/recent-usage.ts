import * as z from 'zod';
import type { UsageRow } from '../store/port.js';
import { adminCommand } from './operation.js';
import { listLimit } from './list-limit.js';
import { namesOfProviders } from './names.js';
import { resolveMember } from './references.js';

const question = z.strictObject({
  user: z.string(),
  limit: listLimit,
  /** The request id of the last one seen; null begins at the newest. */
  after: z.string().nullable(),
});

/** One member's requests, the newest first. */
export const listRecentUsage = adminCommand(question, async (context, { user, limit, after }) => {
  const { store } = context;
  const { id: memberId } = await resolveMember(store, user);
  // One more than asked for tells whether there are more.
  const rows = await store.recentUsage({ memberId, limit: limit + 1, after });
  const keys = new Map((await store.listKeys(memberId)).map(({ id, name }) => [id, name]));
  const answered = rows.map(({ providerId }) => providerId);
  const names = { keys, providers: await namesOfProviders(context, answered) };
  return {
    requests: rows.slice(0, limit).map((row) => present(row, names)),
    has_more: rows.length > limit,
  };
});

interface Names {
  readonly keys: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, string>;
}

function present(row: UsageRow, { keys, providers }: Names) {
  return {
    request_id: row.requestId,
    at: row.at,
    endpoint: row.endpoint,
    model: row.model,
    source: row.source,
    /** Null where it came from the console. */
    key: keys.get(row.keyId) ?? null,
    provider: providers.get(row.providerId ?? '') ?? null,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    estimated: row.estimated,
    audio_ms: row.audioMs,
    images: row.images,
    queue_ms: row.queueMs,
    first_byte_ms: row.firstByteMs,
    total_ms: row.totalMs,
    attempts: row.attempts,
    outcome: row.outcome,
    error_code: row.errorCode,
  };
}
