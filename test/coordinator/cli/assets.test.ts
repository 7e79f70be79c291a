import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Asset, Store } from '@inference-gateway/coordinator/store/port';
import { expect, test } from 'vitest';
import { createMember, newAsset } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { serveAdminOn } from './running-admin.js';

const LIMITS = { memberBytes: 1_000_000, totalBytes: 1_000_000 };
const FAULTS = [
  { id: 'a'.repeat(22), fault: 'missing', detail: 'there is no file' },
  { id: 'b'.repeat(22), fault: 'orphan', detail: 'no row' },
] as const;

async function keep(store: Store, memberId: string, asset: Partial<Asset>): Promise<Asset> {
  const kept = newAsset(memberId, asset);
  expect(await store.createAsset(kept, LIMITS)).toBe('created');
  return kept;
}

test('assets are listed newest first, of one member or of all', async () => {
  const folder = await dataFolder();
  const { store } = await serveAdminOn(folder.path);
  const [anna, ben] = [await createMember(store, 'anna'), await createMember(store, 'ben')];
  const now = Date.now();
  const old = await keep(store, anna.id, { createdAt: now - 7_200_000, seconds: 1.5 });
  const young = await keep(store, ben.id, { createdAt: now, contentType: 'image/png' });
  const ids = async (command: string): Promise<string[]> =>
    ((await folder.json(command)) as { id: string }[]).map(({ id }) => id);
  expect(await ids('asset list')).toEqual([young.id, old.id]);
  expect(await ids('asset list --limit 1')).toEqual([young.id]);
  expect(await ids('asset list --user anna')).toEqual([old.id]);
  expect(await folder.json('asset list --user anna')).toEqual([
    {
      id: old.id,
      owner: 'anna',
      model: 'kokoro',
      endpoint: 'speech',
      content_type: 'audio/wav',
      bytes: 1_000,
      seconds: 1.5,
      sha256: old.sha256,
      provider_id: null,
      request_id: 'req_1',
      created_at: old.createdAt,
      expires_at: old.expiresAt,
    },
  ]);
  const expiry = new Date(old.expiresAt).toISOString();
  expect(await folder.output('asset list --user anna')).toBe(
    `${old.id}\tanna\taudio/wav\t1000\t1.5\tkokoro\t2 h\t${expiry}`,
  );
});

test('verify shows what is wrong and exits 9 where a file is missing or damaged', async () => {
  const folder = await dataFolder();
  const { assets } = await serveAdminOn(folder.path);
  assets.checked = 7;
  assets.faults = [...FAULTS];
  const run = await folder.run('asset verify');
  expect(run.code).toBe(9);
  expect(run.stdout.split('\n')).toEqual([
    `${'a'.repeat(22)}\tmissing\tthere is no file`,
    `${'b'.repeat(22)}\torphan\tno row`,
    '',
  ]);
  expect(run.stderr).toContain('1 of 7 assets are missing or damaged');
  const json = await folder.alone('asset verify --json');
  expect(json.code).toBe(9);
  expect(JSON.parse(json.stdout)).toEqual({ checked: 7, faults: FAULTS });
});

test('verify exits 0 where only orphans lie about, and says what deletes them', async () => {
  const folder = await dataFolder();
  const { assets } = await serveAdminOn(folder.path);
  assets.checked = 7;
  assets.faults = [FAULTS[1]];
  const run = await folder.run('asset verify');
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('7 assets are whole. "prune" deletes the 1 orphans.');
  assets.faults = [];
  expect(await folder.json('asset verify')).toEqual({ checked: 7, faults: [] });
});

test('prune counts with --dry-run, deletes with --yes, and asks for one of them', async () => {
  const folder = await dataFolder();
  const { assets } = await serveAdminOn(folder.path);
  const bare = await folder.alone('prune');
  expect(bare).toMatchObject({ code: 2, stdout: '' });
  expect(bare.stderr).toContain('--dry-run only counts the files');
  expect(assets.asked).toEqual([]);
  const before = Date.now();
  const rows = { jobs: 0, usage_rows: 0, audit_entries: 0 };
  const counts = { expired: 3, orphans: 2, bytes: 4_096, ...rows };
  expect(await folder.json('prune --dry-run')).toEqual({
    ...counts,
    database_bytes: null,
    dry_run: true,
  });
  expect(await folder.json('prune --yes')).toEqual({
    ...counts,
    database_bytes: expect.any(Number),
    dry_run: false,
  });
  // If both are given, --dry-run wins.
  expect(await folder.json('prune --yes --dry-run')).toMatchObject({ dry_run: true });
  expect(assets.asked.map(({ dryRun }) => dryRun)).toEqual([true, false, true]);
  for (const { now } of assets.asked) expect(now).toBeGreaterThanOrEqual(before);
  expect(await folder.output('prune --dry-run')).toMatch(/^expired +3\norphans +2\nbytes +4096\n/);
});

test('without a coordinator, the files themselves are looked at', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  const anna = await createMember(store, 'anna');
  const now = Date.now();
  const lost = await keep(store, anna.id, { expiresAt: now + 3_600_000 });
  const expired = await keep(store, anna.id, { expiresAt: now - 1 });
  await store.close();
  const { code, stdout } = await folder.run('asset verify --json');
  expect(code).toBe(9);
  const report = JSON.parse(stdout) as { checked: number; faults: { id: string; fault: string }[] };
  expect(report.checked).toBe(2);
  expect(report.faults.find(({ id }) => id === lost.id)?.fault).toBe('missing');
  expect(await folder.json('prune --dry-run')).toMatchObject({ expired: 1, orphans: 0 });
  expect(await folder.json('asset list')).toHaveLength(2);
  expect(await folder.json('prune --yes')).toMatchObject({ expired: 1, orphans: 0 });
  expect(await folder.json('asset list')).toMatchObject([{ id: lost.id }]);
  expect(await folder.json('prune --yes')).toMatchObject({ expired: 0, orphans: 0 });
  expect(expired.id).not.toBe(lost.id);
});

test('a list of no rows is a usage error', async () => {
  const { code, stdout, stderr } = await (await dataFolder()).run('asset list --limit 0');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('--limit');
});
