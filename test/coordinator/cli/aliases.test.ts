import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { createMember } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { WHERE } from './jobs-in-store.js';

async function fill(store: Store): Promise<void> {
  await createMember(store, 'anna');
}

describe.each(WHERE)('%s', (where, prepare) => {
  test('aliases are set, replaced, listed and removed, and each change is logged', async () => {
    const folder = await dataFolder();
    await prepare(folder, fill);
    const set = await folder.run('alias set gpt-* big small');
    expect(set).toMatchObject({ code: 0, stdout: '' });
    expect(set.stderr).toContain("'gpt-*' stands for big, small.\n");
    // Only a running coordinator knows what providers have served.
    const isRunning = where === 'beside a running one';
    expect(set.stderr.includes("No provider has served 'big' so far.")).toBe(isRunning);
    const own = await folder.run('alias set fast small --user ANNA@example.org');
    expect(own.stderr).toContain("'fast' stands for small for anna.\n");
    await folder.run('alias set gpt-* small');
    const times = { created_at: expect.any(Number), updated_at: expect.any(Number) };
    const id = expect.any(String) as string;
    const annas = { id, name: 'fast', models: ['small'], owner: 'anna', ...times };
    expect(await folder.json('alias list')).toEqual([
      { id, name: 'gpt-*', models: ['small'], owner: null, ...times },
      annas,
    ]);
    expect(await folder.json('alias list --user anna')).toEqual([annas]);
    expect(await folder.output('alias list')).toBe('gpt-*\tthe gateway\tsmall\nfast\tanna\tsmall');
    const removed = await folder.run('alias remove fast --user anna');
    expect(removed).toMatchObject({ code: 0, stdout: '', stderr: "'fast' is removed.\n" });
    expect(await folder.json('alias list --user anna')).toEqual([]);
    const entries = (await folder.json('audit list --action alias')) as { action: string }[];
    expect(entries).toMatchObject([
      { action: 'alias.remove', subject: { name: 'anna/fast' }, after: null },
      { action: 'alias.set', before: { models: ['big', 'small'] }, after: { models: ['small'] } },
      { action: 'alias.set', before: null, after: { models: ['small'], owner: 'anna' } },
      { action: 'alias.set', before: null, subject: { kind: 'alias', name: 'gpt-*' } },
    ]);
  });
});
