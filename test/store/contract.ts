/**
 * The behaviour of every adapter of the store; `contract.test.ts` runs this against each adapter.
 */
import type { Store } from '@inference-gateway/coordinator/store/port';
import { beforeEach, describe, expect, test } from 'vitest';
import { describeAssets } from './contract-assets.js';
import { describeAliases } from './contract-aliases.js';
import { describeAudit } from './contract-audit.js';
import { describeBatches } from './contract-batches.js';
import { describeCaps } from './contract-caps.js';
import { describeConsole } from './contract-console.js';
import { describeFiles } from './contract-files.js';
import { describeInvites } from './contract-invites.js';
import { describeJobEnds } from './contract-job-ends.js';
import { describeJobGroups } from './contract-job-groups.js';
import { describeJobs } from './contract-jobs.js';
import { describeDevices } from './contract-devices.js';
import { describeQueuePlaces } from './contract-queue-places.js';
import { describeKeyRotation } from './contract-key-rotation.js';
import { describeKeys } from './contract-keys.js';
import { describeClaimEnds } from './contract-claim-ends.js';
import { describeFailedAttempts } from './contract-failed-attempts.js';
import { describeClaims } from './contract-claims.js';
import { describeJoinTokens } from './contract-join-tokens.js';
import { describeLeases } from './contract-leases.js';
import { describeLogIns } from './contract-log-ins.js';
import { describeLimits } from './contract-limits.js';
import { describeMembers } from './contract-members.js';
import { describeNetworkInvitations } from './contract-network-invitations.js';
import { describeNetworks } from './contract-networks.js';
import { describeNodes } from './contract-nodes.js';
import { describePresence } from './contract-presence.js';
import { describeQuotas } from './contract-quotas.js';
import { describeProviders } from './contract-providers.js';
import { describeSharing } from './contract-sharing.js';
import { describeSubmissions } from './contract-submissions.js';
import { describeResults } from './contract-results.js';
import { describeResumes } from './contract-resumes.js';
import { describeSessions } from './contract-sessions.js';
import { describeUsage } from './contract-usage.js';
import { describeUsagePeriods } from './contract-usage-periods.js';
import { describeWanted } from './contract-wanted.js';
import { describeWatching } from './contract-watching.js';
import { describeWebhooks } from './contract-webhooks.js';
import { describeWork } from './contract-work.js';
import type { StoreHarness } from './store-harness.js';
import { NOW, createProvider, newMember } from './store-rows.js';

export function describeStore(adapter: string, open: () => Promise<StoreHarness>): void {
  let harness: StoreHarness;
  let store: Store;

  beforeEach(async () => {
    harness = await open();
    store = harness.store;
  });

  describeMembers(adapter, () => store);
  describeInvites(adapter, () => store);
  describeSessions(adapter, () => store);
  describeLogIns(adapter, () => store);
  describeKeys(adapter, () => store);
  describeKeyRotation(adapter, () => store);
  describeAudit(adapter, () => harness);
  describeWatching(adapter, () => harness);
  describeLimits(adapter, () => store);
  describeLeases(adapter, () => harness);
  describeQuotas(adapter, () => harness);
  describeJoinTokens(adapter, () => store);
  describeDevices(adapter, () => store);
  describeProviders(adapter, () => store);
  describeNodes(adapter, () => harness);
  describePresence(adapter, () => harness);
  describeWanted(adapter, () => harness);
  describeNetworks(adapter, () => store);
  describeNetworkInvitations(adapter, () => store);
  describeSharing(adapter, () => store);
  describeAliases(adapter, () => store);
  describeCaps(adapter, () => harness);
  describeAssets(adapter, () => store);
  describeUsage(adapter, () => harness);
  describeUsagePeriods(adapter, () => harness);
  describeConsole(adapter, () => store);
  describeClaims(adapter, () => harness);
  describeClaimEnds(adapter, () => store);
  describeFailedAttempts(adapter, () => store);
  describeResults(adapter, () => harness);
  describeResumes(adapter, () => store);
  describeSubmissions(adapter, () => store);
  describeJobs(adapter, () => store);
  describeJobGroups(adapter, () => store);
  describeQueuePlaces(adapter, () => store);
  describeJobEnds(adapter, () => store);
  describeBatches(adapter, () => store);
  describeFiles(adapter, () => harness);
  describeWebhooks(adapter, () => harness);
  describeWork(adapter, () => store);

  describe(`${adapter}: its life`, () => {
    test('it is writable, and what it has answered is there after it was closed', async () => {
      expect(await store.isWritable()).toBe(true);
      const provider = await createProvider(store);
      const reopened = await harness.reopen();
      expect(await reopened.listProviders()).toEqual([provider]);
      expect((await reopened.listMembers()).map(({ name }) => name)).toEqual(['anna']);
    });

    test('by an actor it is the same store, which writes that actor down', async () => {
      const by = store.by('cli:root').by('member:anna');
      const reading = { since: null, action: null, subjectId: null, limit: 9 };
      await Promise.all([
        by.createMember(newMember('anna'), NOW),
        store.createMember(newMember('ben'), NOW),
      ]);
      expect(await store.listMembers()).toHaveLength(2);
      const bys = await store.listAudit({ ...reading, actor: 'member:anna' });
      expect(bys.map(({ subject }) => subject.name)).toEqual(['anna@example.org']);
      const others = await store.listAudit({ ...reading, actor: 'system' });
      expect(others.map(({ subject }) => subject.name)).toEqual(['ben@example.org']);
      await by.close();
      await expect(store.listMembers()).rejects.toMatchObject({ code: 'storage_unavailable' });
      expect(await (await harness.reopen()).listMembers()).toHaveLength(2);
    });

    test('closing waits for what is under way; then every operation is refused', async () => {
      const pending = store.createMember(newMember('anna'), NOW);
      await store.close();
      expect(await pending).toMatchObject({ kind: 'created' });
      const refused = { code: 'storage_unavailable', status: 503 };
      await expect(store.listMembers()).rejects.toMatchObject(refused);
      await expect(store.createMember(newMember('ben'), NOW)).rejects.toMatchObject(refused);
      expect(await store.isWritable()).toBe(false);
    });
  });
}
