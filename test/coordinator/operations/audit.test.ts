import { expect, test } from 'vitest';
import { createMember } from '../../store/store-rows.js';
import { adminOnStore } from './admin-on-store.js';

const ALL = { since_s: null, action: null, actor: null, subject: null, limit: 50 };

test('the log is asked for a member by any of their names, or for what is none', async () => {
  const { store, run, refusal } = await adminOnStore();
  const { id } = await createMember(store, 'anna');
  await createMember(store, 'ben');
  await store.by(`member:${id}`).changeMember(id, { name: 'annika' }, 1);
  await store.by('agent').changeMember(id, { name: 'anna' }, 1);
  await run('user.rename', { member: 'anna', name: 'annie' });
  const namesBy = async (actor: string): Promise<unknown[]> => {
    const entries = await run('audit.list', { ...ALL, action: 'user.rename', actor });
    return entries.map(({ after }) => after?.['name']);
  };
  for (const actor of [id, 'ANNIE', 'anna@example.org', `member:${id}`]) {
    expect(await namesBy(actor)).toEqual(['annika']);
  }
  expect(await namesBy('agent')).toEqual(['anna']);
  expect(await namesBy('cli:test')).toEqual(['annie']);
  expect(await namesBy('ben')).toEqual([]);
  expect(await refusal('audit.list', { ...ALL, actor: 'anie' })).toMatch(
    /^3: no member is called 'anie'. Did you mean annie/,
  );
});
