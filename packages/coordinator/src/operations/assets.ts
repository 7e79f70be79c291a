import * as z from 'zod';
import type { Asset, OldRows } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { memberNames, resolveMember } from './references.js';

/** About 400 KiB of JSON. */
const MAX_LISTED = 1_000;
const LIMIT_RULE = `a list has 1 to ${MAX_LISTED} rows`;

const listing = z.strictObject({
  user: z.string().nullable(),
  limit: z.int(LIMIT_RULE).min(1, LIMIT_RULE).max(MAX_LISTED, LIMIT_RULE),
});

export const listAssets = adminRead(listing, async ({ store }, { user, limit }) => {
  const owner = user === null ? null : await resolveMember(store, user);
  const assets = await store.listAssets({ memberId: owner?.id ?? null, limit, after: null });
  const names = await memberNames(store);
  return assets.map((asset) => present(asset, names.get(asset.memberId) ?? null));
});

export const verifyAssets = adminChange(z.strictObject({}), ({ assets, now }) =>
  assets.verify(now()),
);

/** Rows deleted, or pages freed, in one operation of the store. */
const AT_ONCE = 500;

export const pruneAssets = adminChange(
  z.strictObject({ dry_run: z.boolean() }),
  async (context, { dry_run }) => {
    const { store, assets, now } = context;
    const files = await assets.prune(now(), dry_run);
    const rows = dry_run
      ? { ...presentOld(await store.countOld(boundsOf(context))), database_bytes: null }
      : await pruneDatabase(context);
    const report = { ...files, ...rows };
    if (!dry_run) {
      const change = { before: null, after: { ...report } };
      await store.recordAudit({ action: 'asset.prune', subject: ASSETS, ...change });
    }
    return { ...report, dry_run };
  },
);

function boundsOf({ now, retention }: AdminContext): Record<OldRows, number> {
  const at = now();
  return {
    jobs: at - retention.retentionMs,
    usage: at - retention.usageRetentionMs,
    audit: at - retention.auditRetentionMs,
  };
}

async function pruneDatabase(context: AdminContext) {
  const { store } = context;
  const before = boundsOf(context);
  const jobs = await all(() => store.deleteOldJobs(before.jobs, AT_ONCE));
  const usage = await all(() => store.deleteOldUsage(before.usage, AT_ONCE));
  const audit = await all(() => store.deleteOldAudit(before.audit, AT_ONCE));
  // In small steps, so that current calls do not wait for all of it.
  const pages = await all(() => store.releasePages(AT_ONCE));
  const { freedBytes, lacksRoom } = await store.compact();
  return {
    ...presentOld({ jobs, usage, audit }),
    database_bytes: lacksRoom ? null : Math.max(freedBytes, pages * PAGE_BYTES),
  };
}

/** SQLite's default page size, which is not changed here. */
const PAGE_BYTES = 4_096;

/** Repeats until a step does less than its limit. */
async function all(step: () => Promise<number>): Promise<number> {
  for (let sum = 0; ;) {
    const done = await step();
    sum += done;
    if (done < AT_ONCE) return sum;
  }
}

function presentOld({ jobs, usage, audit }: Readonly<Record<OldRows, number>>) {
  return { jobs, usage_rows: usage, audit_entries: audit };
}

/** All files together, as the audit log names them. */
const ASSETS = { kind: 'assets', id: 'assets', name: 'assets' } as const;

function present(asset: Asset, owner: string | null) {
  return {
    id: asset.id,
    owner,
    model: asset.model,
    endpoint: asset.endpoint,
    content_type: asset.contentType,
    bytes: asset.bytes,
    seconds: asset.seconds,
    sha256: asset.sha256,
    provider_id: asset.providerId,
    request_id: asset.requestId,
    created_at: asset.createdAt,
    expires_at: asset.expiresAt,
  };
}
