import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import { WHERE } from './jobs-in-store.js';

const SELF = { url: 'wss://10.0.0.2:7071', version: '1.2.3', agents: 3, isNew: true };

async function fill(store: Store): Promise<void> {
  await store.reportNode(SELF, new Uint8Array(32), Date.now());
}

describe.each(WHERE)('%s', (_where, prepare) => {
  test('coordinators are listed, resumed and forgotten, and get a new key', async () => {
    const folder = await dataFolder();
    await prepare(folder, fill);
    const [listed] = (await folder.json('node list')) as object[];
    const { url, version, agents } = SELF;
    expect(listed).toMatchObject({ id: 'local', name: 'local', state: 'up', url, version, agents });
    expect(await folder.output('node list')).toMatch(/^local\tup\t3\t/);
    expect(await folder.run('node drain local')).toMatchObject({
      code: 7,
      stderr: expect.stringContaining("no other coordinator could take over what 'local' serves"),
    });
    expect(await folder.run('node resume local')).toMatchObject({
      code: 0,
      stderr: 'local serves again.\n',
    });
    expect(await folder.run('node rotate-key')).toMatchObject({ code: 0, stdout: '' });
    expect(await folder.run('node remove local')).toMatchObject({
      code: 7,
      stderr: expect.stringContaining("the coordinator 'local' runs: stop it first"),
    });
    expect(await folder.run('node remove south')).toMatchObject({
      stderr: expect.stringContaining("there is no coordinator 'south': there are local"),
    });
    const entries = (await folder.json('audit list --action node')) as { action: string }[];
    expect(entries.map(({ action }) => action)).toEqual(['node.rotate-key', 'node.undrain']);
  });
});
