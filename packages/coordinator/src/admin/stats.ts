import * as z from 'zod';
import { USAGE_GROUPS } from '../store/port.js';
import type { Store, UsageGroup, UsageStat } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import { memberNames, providerNames } from './names.js';
import { resolveMember } from './references.js';

const question = z.strictObject({
  /** Null: since ever. */
  since_s: z.int().min(1).nullable(),
  by: z.enum(USAGE_GROUPS),
  user: z.string().nullable(),
});

export const showStats = adminCommand(question, async ({ store, now }, args) => {
  const { by, since_s, user } = args;
  const member = user === null ? null : await resolveMember(store, user);
  const since = since_s === null ? null : now() - since_s * 1_000;
  const stats = await store.usageStats({ since, by, memberId: member?.id ?? null });
  const names = await namesOf(store, by);
  return stats.map((stat) => present(stat, names));
});

/** What the groups are called; null where a group's id is its name. */
async function namesOf(store: Store, by: UsageGroup): Promise<ReadonlyMap<string, string> | null> {
  switch (by) {
    case 'member':
      return memberNames(store);
    case 'key':
      return new Map(
        (await store.listKeys(null)).map((key) => [key.id, `${key.memberEmail}/${key.name}`]),
      );
    case 'provider':
      return providerNames(store);
    case 'day':
    case 'model':
    case 'endpoint':
    case 'source':
      return null;
  }
}

function present(stat: UsageStat, names: ReadonlyMap<string, string> | null) {
  const id = stat.group === '' ? null : stat.group;
  return {
    id,
    name: names === null ? id : (names.get(stat.group) ?? null),
    requests: stat.requests,
    ok: stat.ok,
    failed: stat.failed,
    canceled: stat.canceled,
    prompt_tokens: stat.promptTokens,
    completion_tokens: stat.completionTokens,
    audio_ms: stat.audioMs,
    images: stat.images,
    total_ms: stat.totalMs,
  };
}
