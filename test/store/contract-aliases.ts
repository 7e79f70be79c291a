/** The part of the contract that is about aliases, and about jobs under one. */
import type { SharingFacts } from '@inference-gateway/coordinator/core/access/sharing';
import type { NewAlias, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { BROKEN, LINK_ID, NEWEST_JOBS, ROOMY, newItem, submitJob } from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

export function describeAliases(adapter: string, store: () => Store): void {
  const setOf = (alias: Omit<NewAlias, 'cap'>, cap = 9) =>
    store()
      .by('member:admin')
      .setAlias({ ...alias, cap }, NOW);
  const set = (memberId: string | null, name: string, models: readonly string[]) =>
    setOf({ memberId, name, models });
  const facts = async () => (await store().sharingFacts()).aliases;

  const submit = async () => {
    const { id } = await createMember(store(), 'anna');
    return submitJob(store(), id, { item: newItem({ model: 'big', alias: 'fast' }) });
  };
  const claim = async (jobId: string, servedModel: string | null, at: number) => {
    const claimId = `claim-${at}`;
    const place = { providerId: 'den', linkId: LINK_ID, serviceId: 'llm-1', isOwn: false };
    const lease = { leaseUntil: at + 60_000 };
    const claims = [{ jobId, claimId, ...place, ...lease, servedModel }];
    const [claimed] = await store().claimJobs(claims, at);
    return { claimId, linkId: LINK_ID, job: claimed?.[0].job };
  };

  describe(`${adapter}: aliases`, () => {
    test('are set, replaced, listed and removed, of the gateway and of each member', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const first = await set(anna.id, 'fast', ['b', 'a']);
      expect(first).toMatchObject({
        kind: 'set',
        before: null,
        value: { memberId: anna.id, memberName: 'anna', name: 'fast', models: ['b', 'a'] },
      });
      await set(null, 'fast', ['c']);
      await set(ben.id, 'fast', ['d']);
      await set(null, 'Fast', ['e']);
      const replaced = await store().setAlias(
        { memberId: anna.id, name: 'fast', models: ['z'], cap: 9 },
        NOW + 5,
      );
      expect(replaced).toMatchObject({
        before: ['b', 'a'],
        value: { models: ['z'], createdAt: NOW, updatedAt: NOW + 5 },
      });
      const listed = (await store().listAliases()).map((one) => [
        one.memberName,
        one.name,
        one.models,
      ]);
      expect(listed).toEqual([
        [null, 'Fast', ['e']],
        [null, 'fast', ['c']],
        ['anna', 'fast', ['z']],
        ['ben', 'fast', ['d']],
      ]);
      expect(await facts()).toHaveLength(4);
      expect(await facts()).toContainEqual({ memberId: anna.id, name: 'fast', models: ['z'] });
      expect(await store().removeAlias(ben.id, 'FAST')).toBe(false);
      expect(await store().removeAlias(null, 'fast')).toBe(true);
      expect(await store().removeAlias(null, 'fast')).toBe(false);
      expect(await facts()).toHaveLength(3);
    });

    test('are no more than the cap of their owner; a replacement counts as none', async () => {
      const anna = await createMember(store(), 'anna');
      await setOf({ memberId: null, name: 'a', models: ['x'] }, 1);
      expect(await setOf({ memberId: null, name: 'b', models: ['x'] }, 1)).toEqual({
        kind: 'full',
        count: 1,
      });
      expect(await setOf({ memberId: null, name: 'a', models: ['y'] }, 1)).toMatchObject({
        kind: 'set',
      });
      const both = ['b', 'c'].map((name) => setOf({ memberId: anna.id, name, models: ['x'] }, 1));
      const kinds = (await Promise.all(both)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['full', 'set']);
    });

    test('do not nest within one owner', async () => {
      const anna = await createMember(store(), 'anna');
      await set(null, 'fast', ['a']);
      expect(await set(null, 'x', ['b', 'fast'])).toEqual({ kind: 'names_alias', alias: 'fast' });
      expect(await set(null, 'a', ['b'])).toEqual({ kind: 'named_by', alias: 'fast' });
      expect(await set(anna.id, 'a', ['b'])).toMatchObject({ kind: 'set' });
    });

    test('are told with the sharing facts at each change, and end with their member', async () => {
      const [anna, told] = [await createMember(store(), 'anna'), [] as SharingFacts[]];
      store().watchSharing((news) => void told.push(news));
      await set(anna.id, 'fast', ['a']);
      await set(anna.id, 'fast', ['b']);
      await store().removeAlias(anna.id, 'none');
      await set(anna.id, 'slow', ['a']);
      await store().removeAlias(anna.id, 'slow');
      const chains = told.map(({ aliases }) =>
        aliases.map(({ models }) => models.join()).join(' '),
      );
      expect(chains).toEqual(['a', 'b', 'b a', 'b']);
      expect(await store().memberHoldings(anna.id)).toMatchObject({ aliases: 1 });
      await store().deleteMember(anna.id, NOW);
      expect(await facts()).toEqual([]);
      expect(JSON.stringify(await audited(store(), 'alias'))).not.toContain('anna');
    });

    test('are in the audit log, once a change', async () => {
      const anna = await createMember(store(), 'anna');
      await set(anna.id, 'fast', ['a']);
      await set(anna.id, 'fast', ['a']);
      await set(anna.id, 'fast', ['b']);
      await set(null, 'anna', ['b']);
      await store().removeAlias(anna.id, 'fast');
      const entries = (await audited(store(), 'alias')).map((entry) => [
        entry.action,
        entry.actor,
        entry.subject.name,
        entry.before,
        entry.after,
      ]);
      const actor = 'member:admin';
      expect(entries.toReversed()).toEqual([
        ['alias.set', actor, 'anna/fast', null, { models: ['a'], owner: 'anna' }],
        ['alias.set', actor, 'anna/fast', { models: ['a'] }, { models: ['b'], owner: 'anna' }],
        ['alias.set', actor, 'anna', null, { models: ['b'], owner: null }],
        ['alias.remove', 'system', 'anna/fast', { models: ['b'], owner: 'anna' }, null],
      ]);
    });
  });

  describe(`${adapter}: jobs under an alias`, () => {
    test('stand in the queue of its first model, in a lane of the alias', async () => {
      const job = await submit();
      expect(job).toMatchObject({ model: 'big', alias: 'fast', servedModel: null });
      const plain = await submitJob(store(), job.memberId, { item: newItem({ model: 'big' }) });
      const heads = await store().laneHeads(5);
      expect(heads.map(({ lane }) => [lane.model, lane.alias ?? ''].join(' ')).toSorted()).toEqual([
        'big ',
        'big fast',
      ]);
      const [place] = await store().queuePositions([plain.id]);
      expect(place?.ahead).toEqual([{ memberId: job.memberId, jobs: 1 }]);
      const found = async (model: string) =>
        (await store().listJobs({ ...NEWEST_JOBS, model })).length;
      expect([await found('FAS'), await found('big'), await found('x')]).toEqual([1, 2, 0]);
    });

    test('keep the model that their claim took; usage counts it, a retry forgets it', async () => {
      const { id } = await submit();
      const { job, claimId, linkId } = await claim(id, 'small', NOW + 1);
      expect(job).toMatchObject({ model: 'big', alias: 'fast', servedModel: 'small' });
      const failure = { claimId, linkId, retryable: false, error: BROKEN, random: 0 };
      const outcome = await store().failJob(failure, NOW + 2);
      expect('usage' in outcome ? outcome.usage : null).toMatchObject({
        model: 'small',
        outcome: 'failed',
      });
      const retried = await store().retryJob(id, null, ROOMY, NOW + 3);
      expect(retried).toMatchObject({ job: { model: 'big', alias: 'fast', servedModel: null } });
    });

    test('avoid a provider only for the model that failed there', async () => {
      const { id } = await submit();
      const { claimId, linkId } = await claim(id, 'a model', NOW + 1);
      const failure = { claimId, linkId, retryable: true, error: BROKEN, random: 0 };
      await store().failJob(failure, NOW + 2);
      await store().ripenJobs(NOW + 60_000);
      const [head] = await store().laneHeads(1);
      expect(head?.lane).toMatchObject({ alias: 'fast', avoided: ['den a model'] });
    });
  });
}
