import { createAdminAssets } from '@inference-gateway/coordinator/assets/admin-assets';
import { assetsFolder, openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScript } from '../store/child-script.js';
import { createMember } from '../store/store-rows.js';
import { filesBelow } from '../support/open-library.js';
import { FULL } from '../support/process-stage.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const KILLS = FULL ? 20 : 8;
const MOST_LINES = 60;
const TWO_HOURS_MS = 7_200_000;
const KEPT_FOR_MS = { long: 86_400_000, short: 20 };

test.each(['long', 'short'] as const)(
  'a killed process leaves no row without its file, and the sweep nothing over (%s retention)',
  async (retention) => {
    const dataDir = await temporaryFolder();
    const memberId = await prepare(dataDir);
    let leftOver = 0;
    for (let kill = 0; kill < KILLS / 2; kill++) {
      const answered = await runAndKill(dataDir, memberId, KEPT_FOR_MS[retention]);
      const store = await openStore(dataDir);
      try {
        if (retention === 'long') await expectKept(store, answered);
        const { faults } = await createAdminAssets(() => openByteStore(dataDir), store).verify(
          Date.now(),
        );
        expect(faults).toEqual([]);
        leftOver += await sweepAll(dataDir, store);
      } finally {
        await store.close();
      }
    }
    // Else the moments were all harmless ones, and nothing has been shown.
    expect(leftOver).toBeGreaterThan(0);
  },
  120_000,
);

async function prepare(dataDir: string): Promise<string> {
  const store = await openStore(dataDir);
  const { id } = await createMember(store, 'anna');
  await store.close();
  return id;
}

async function runAndKill(dataDir: string, memberId: string, keptMs: number): Promise<string[]> {
  const name = '../faults/asset-keeper.js';
  const keeper = startScript(name, [dataDir, memberId, String(keptMs)]);
  const enough = 1 + Math.floor(Math.random() * MOST_LINES);
  await until(() => keeper.lines().length >= enough);
  await keeper.kill();
  return keeper.lines();
}

/** Answers hold: kept files exist, removed files do not. */
async function expectKept(store: Store, answered: readonly string[]): Promise<void> {
  const named = (word: string): string[] =>
    answered.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length + 1));
  const removed = new Set(named('removed'));
  const kept = named('kept').filter((id) => !removed.has(id));
  // One that was about to be removed may be gone before that was said.
  const lost = kept.length - (await store.knownAssets(kept)).length;
  expect(lost).toBeLessThanOrEqual(5);
  expect(await store.knownAssets([...removed])).toEqual([]);
}

/** Two hours later: returns how much was left over, and expects that none is any more. */
async function sweepAll(dataDir: string, store: Store): Promise<number> {
  await age(dataDir);
  const before = (await filesBelow(dataDir)).length;
  const { expired } = await createAdminAssets(() => openByteStore(dataDir), store).prune(
    Date.now(),
    false,
  );
  const after = await filesBelow(dataDir);
  expect((await store.knownAssets(after)).toSorted()).toEqual(after.toSorted());
  const rows = await store.listAssets({ memberId: null, limit: 100_000, after: null });
  expect(rows).toHaveLength(after.length);
  return before - after.length - expired;
}

async function age(dataDir: string): Promise<void> {
  const then = (Date.now() - TWO_HOURS_MS) / 1000;
  const files = openByteStore(dataDir);
  for await (const { id } of files.list()) await utimes(files.path(id), then, then);
  const drafts = join(assetsFolder(dataDir), 'drafts');
  for (const name of await readdir(drafts)) await utimes(join(drafts, name), then, then);
}
