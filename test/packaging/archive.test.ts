import { chmod, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { list } from 'tar';
import { expect, test } from 'vitest';
import { archive } from '../../packaging/archive.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const FILES = { 'package.json': '{}\n', 'bin/run.js': '#!/usr/bin/env node\n', 'dist/a/b.js': '' };

test('two folders with the same files make the same bytes', async () => {
  const one = await packed({ order: 'forwards', mode: 0o644, modifiedAt: 1_000_000 });
  const other = await packed({ order: 'backwards', mode: 0o600, modifiedAt: 2_000_000 });
  expect(other.equals(one)).toBe(true);
});

test('another content makes other bytes', async () => {
  const surroundings = { order: 'forwards', mode: 0o644, modifiedAt: 1_000_000 } as const;
  const one = await packed(surroundings);
  const other = await packed(surroundings, { ...FILES, 'package.json': '{ }\n' });
  expect(other.equals(one)).toBe(false);
});

test('it is an npm package: all in one folder, and only programs are executable', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'package.tgz');
  await writeFile(file, await packed({ order: 'forwards', mode: 0o600, modifiedAt: 1_000_000 }));
  const entries: [string, number | undefined][] = [];
  await list({ file, onReadEntry: ({ path, mode }) => entries.push([path, mode]) });
  expect(entries).toEqual([
    ['package/bin/run.js', 0o755],
    ['package/dist/a/b.js', 0o644],
    ['package/package.json', 0o644],
  ]);
});

interface Surroundings {
  readonly order: 'forwards' | 'backwards';
  readonly mode: number;
  /** Unix seconds. */
  readonly modifiedAt: number;
}

async function packed(
  { order, mode, modifiedAt }: Surroundings,
  files: Readonly<Record<string, string>> = FILES,
): Promise<Buffer> {
  const folder = await temporaryFolder();
  const source = join(folder, 'source');
  const entries = Object.entries(files);
  for (const [path, content] of order === 'forwards' ? entries : entries.toReversed()) {
    const full = join(source, path);
    await mkdir(join(full, '..'), { recursive: true });
    await writeFile(full, content);
    await chmod(full, mode);
    await utimes(full, modifiedAt, modifiedAt);
  }
  const file = join(folder, 'package.tgz');
  await archive(source, file);
  return readFile(file);
}
