/** The completions of a program in a real bash. */
import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programFile } from './bundled-programs.js';
import type { ProgramName } from './bundled-programs.js';
import { temporaryFolder } from './temporary-folder.js';

const run = promisify(execFile);

/** A bash with both programs in its PATH. */
export interface Bash {
  run(script: string): Promise<{ readonly stdout: string; readonly stderr: string }>;
  /** Completions of the last word; the first word is the program. */
  offers(...words: readonly [ProgramName, ...string[]]): Promise<string[]>;
}

export async function bashWithPrograms(): Promise<Bash> {
  const folder = await temporaryFolder();
  for (const name of ['gateway-agent', 'gateway-coordinator'] as const) {
    const file = join(folder, name);
    await writeFile(file, `#!/bin/sh\nexec '${process.execPath}' '${programFile(name)}' "$@"\n`);
    await chmod(file, 0o755);
  }
  const env = { PATH: `${folder}:${process.env['PATH']}` };
  const bash = (script: string) => run('bash', ['--norc', '-c', script], { env, cwd: folder });
  await bash('for name in agent coordinator; do gateway-$name complete bash > $name.sh; done');
  return {
    run: bash,
    async offers(program, ...words) {
      const quoted = [program, ...words].map((word) => `'${word}'`).join(' ');
      const { stdout } = await bash(`
        source ${program.replace('gateway-', '')}.sh
        COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}
        "_${program.replace('-', '_')}"
        printf '%s\\n' "\${COMPREPLY[@]}"`);
      return stdout.split('\n').filter((line) => line !== '');
    },
  };
}
