/** Stand-ins for programs of the operating system, found first on a PATH. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.js';

export interface FakeTools {
  /** The folder of the stand-ins alone, for a PATH without anything else. */
  readonly folder: string;
  /** A PATH with the stand-ins first. */
  readonly path: string;
  /** Every call so far, as typed. */
  calls(): Promise<string[]>;
}

/** `scripts` are shell scripts by name; every call is recorded. */
export async function fakeTools(scripts: Readonly<Record<string, string>>): Promise<FakeTools> {
  const folder = await temporaryFolder();
  const log = join(folder, 'calls');
  await writeFile(log, '');
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(folder, name);
    await writeFile(file, [HEAD, `echo "${name} $*" >> '${log}'`, script, ''].join('\n'));
    await chmod(file, 0o755);
  }
  return {
    folder,
    path: `${folder}:${process.env['PATH']}`,
    calls: async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== ''),
  };
}

/** The scripts find their own tools on any PATH of the caller. */
const HEAD = `#!/bin/sh\nPATH='${process.env['PATH']}'`;
