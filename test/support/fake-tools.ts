/** Programs of the operating system that stand in for the real ones: found first on a PATH. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.js';

export interface FakeTools {
  /** For a PATH on which there is nothing else. */
  readonly folder: string;
  /** With the stand-ins first. */
  readonly path: string;
  /** Every call so far, as it was typed. */
  calls(): Promise<string[]>;
}

/** Each is a shell script; its calls are recorded. */
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

/** The scripts find their own tools, whatever the caller's PATH. */
const HEAD = `#!/bin/sh\nPATH='${process.env['PATH']}'`;
