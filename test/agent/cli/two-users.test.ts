/**
 * Root and the user of the agent on one machine. Only root can play both: where the tests run as
 * another user, these are skipped.
 */
import { chmod, chown, lstat, readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../support/program.js';
import { jobHome } from './job-home.js';

const PROGRAM = 'gateway-agent';
const OWNER = 65_534;
const AS_OWNER = {
  script: { file: new URL('../../support/as-nobody.js', import.meta.url), args: ['agent'] },
};

async function giveAway(folder: string): Promise<void> {
  for (const name of ['.', ...(await readdir(folder, { recursive: true }))]) {
    const path = join(folder, name);
    await chown(path, OWNER, OWNER);
    await chmod(path, (await lstat(path)).isDirectory() ? 0o700 : 0o600);
  }
}

async function strangeFiles(folder: string): Promise<string[]> {
  const names = ['.', ...(await readdir(folder, { recursive: true }))];
  const described = names.map(async (name) => {
    const { uid, gid, mode } = await lstat(join(folder, name));
    const isPrivate = uid === OWNER && gid === OWNER && (mode & 0o077) === 0;
    return isPrivate ? [] : [`${name} ${uid}:${gid} ${(mode & 0o777).toString(8)}`];
  });
  return (await Promise.all(described)).flat();
}

describe.runIf(process.getuid?.() === 0)('root and the owner of a configuration', () => {
  test('what root does with it stays its owner’s, running or not', async () => {
    const home = await jobHome();
    const { stateDir } = home;
    const folder = dirname(stateDir);
    const config = stateDir.replace(/\.state$/, '');
    await giveAway(folder);
    const run = (command: string, options = {}) =>
      runProgram(PROGRAM, [...command.split(' '), '--config', config], options);
    expect((await run('services limit llm-1 --slots 2')).code).toBe(0);
    expect((await run('status')).code).toBe(9);
    expect(await strangeFiles(folder)).toEqual([]);

    const { program } = await home.startAgent();
    const status = await readFile(`/proc/${program.child.pid}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\s+${OWNER}\\s+${OWNER}\\s+${OWNER}\\s`, 'm'));
    for (const command of ['status', 'pause', 'resume']) {
      const { code, stderr } = await run(command);
      expect(code, stderr).toBe(0);
      const asOwner = await run(command, AS_OWNER);
      expect(asOwner.code, asOwner.stderr).toBe(0);
    }
    expect(await strangeFiles(folder)).toEqual([]);
    program.child.kill('SIGTERM');
    await program.finished;
    expect(await strangeFiles(folder)).toEqual([]);
  }, 120_000);
});
