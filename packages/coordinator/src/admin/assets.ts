import * as z from 'zod';
import type { Asset } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import { memberNames } from './names.js';
import { resolveMember } from './references.js';

/** Some 400 KiB of JSON. */
const MAX_LISTED = 1_000;
const LIMIT_RULE = `a list has 1 to ${MAX_LISTED} rows`;

const listing = z.strictObject({
  user: z.string().nullable(),
  limit: z.int(LIMIT_RULE).min(1, LIMIT_RULE).max(MAX_LISTED, LIMIT_RULE),
});

export const listAssets = adminCommand(listing, async ({ store }, { user, limit }) => {
  const owner = user === null ? null : await resolveMember(store, user);
  const assets = await store.listAssets({ memberId: owner?.id ?? null, limit, after: null });
  const names = await memberNames(store);
  return assets.map((asset) => present(asset, names.get(asset.memberId) ?? null));
});

export const verifyAssets = adminCommand(z.strictObject({}), ({ assets }) => assets.verify());

export const pruneAssets = adminCommand(
  z.strictObject({ dry_run: z.boolean() }),
  async ({ store, assets, now }, { dry_run }) => {
    const report = await assets.prune(now(), dry_run);
    if (!dry_run) {
      const change = { before: null, after: { ...report } };
      await store.recordAudit({ action: 'asset.prune', subject: ASSETS, ...change });
    }
    return { ...report, dry_run };
  },
);

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
