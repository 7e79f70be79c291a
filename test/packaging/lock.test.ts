/** One installation or upgrade at a time, by `install.sh` and by the agent: they share a lock. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockInstallation } from '@inference-gateway/agent/installation/installation';
import { CommandError } from '@inference-gateway/shared/program/command-error';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from './release-stage.js';

/** Above the largest process id of Linux. */
const DEAD = '4194304\n';

let root: string;
let script: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const whole = await readFile(join(ROOT, 'packages/coordinator/install/install.sh'), 'utf8');
  script = whole.replace('main "$@"\n', 'root=$1; read -r go; hold_lock; echo held; read -r end');
});

afterEach(() => rm(root, { recursive: true }));

/** A shell that takes the lock once it is told to, and keeps it until its input ends. */
function shell() {
  const child = spawn('sh', ['-c', script, 'install.sh', root]);
  const closed = once(child, 'close');
  const held = new Promise<boolean>((done) => {
    child.stdout.once('data', () => done(true));
    child.once('close', () => done(false));
  });
  const go = (): Promise<boolean> => {
    child.stdin.write('go\n');
    return held;
  };
  const end = async (): Promise<void> => {
    child.stdin.end();
    await closed;
  };
  return { go, end };
}

const locked = (): Promise<boolean> =>
  lockInstallation(root).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CommandError && error.exitCode === 7) return false;
      throw error;
    },
  );

test('of many that find the lock of a process that has ended, one gets it', async () => {
  for (let round = 0; round < 10; round += 1) {
    await writeFile(join(root, 'lock'), DEAD);
    const shells = [shell(), shell(), shell()];
    const got = await Promise.all([...shells.map(({ go }) => go()), locked(), locked()]);
    for (const { end } of shells) await end();
    expect(got.filter(Boolean), `round ${round}`).toHaveLength(1);
    expect(await readdir(root)).toEqual(['lock']);
  }
});

test('of many at once in an agent, one gets the lock, and the next after its release', async () => {
  for (let round = 0; round < 100; round += 1) {
    if (round % 2 === 0) await writeFile(join(root, 'lock'), DEAD);
    const all = [1, 2, 3, 4].map(() => locked());
    expect((await Promise.all(all)).filter(Boolean), `round ${round}`).toHaveLength(1);
    await rm(join(root, 'lock'));
  }
});

test('a lock that is released while an agent looks at it is no fault', async () => {
  const loop = 'cd "$1"; echo $$ >own; for i in $(seq 200); do ln own lock && rm -f lock; done';
  const child = spawn('sh', ['-c', `${loop}; rm own`, 'sh', root], { stdio: 'ignore' });
  while (child.exitCode === null) {
    const release = await lockInstallation(root).catch((error: unknown) => error);
    if (typeof release === 'function') await release();
    else expect(release).toBeInstanceOf(CommandError);
  }
  expect(await readdir(root)).toEqual([]);
});

test('an empty lock counts as held', async () => {
  await writeFile(join(root, 'lock'), '');
  const one = shell();
  expect([await one.go(), await locked()]).toEqual([false, false]);
  await one.end();
  expect(await readdir(root)).toEqual(['lock']);
});
