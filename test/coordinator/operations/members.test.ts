import { expect, test } from 'vitest';
import { createMember } from '../../store/store-rows.js';
import { adminOnStore } from './admin-on-store.js';

test('two admins who delete each other at once leave an admin who can log in', async () => {
  const { store, run } = await adminOnStore();
  for (const name of ['anna', 'ben']) {
    await createMember(store, name);
    await run('user.role', { member: name, role: 'admin' });
  }
  const deleting = ['anna', 'ben'].map((member) => run('user.delete', { member, dry_run: false }));
  await Promise.allSettled(deleting);
  const members = await store.listMembers();
  const active = members.filter(({ role, disabledAt }) => role === 'admin' && disabledAt === null);
  expect(active.length).toBeGreaterThan(0);
});
