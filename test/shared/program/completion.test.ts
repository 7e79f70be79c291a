import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { bashWithPrograms } from '../../support/completion.js';
import { runCommand } from '../../support/run-command.js';
import { runProgram } from '../../support/program.js';

const PROGRAMS = ['gateway-agent', 'gateway-coordinator'] as const;

describe.each(PROGRAMS)('%s', (program) => {
  const parts = {
    bash: `complete -o default -F _${program.replace('-', '_')} ${program}`,
    zsh: `#compdef ${program}`,
    fish: `complete -k -c ${program}`,
    powershell: `Register-ArgumentCompleter -CommandName '${program}'`,
  };

  test('prints a script for each shell that asks it for what fits, and nothing else', async () => {
    for (const [shell, part] of Object.entries(parts)) {
      const { code, stdout, stderr } = await runCommand(program, ['complete', shell]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(part);
      expect(stdout).toMatch(/ complete ['`]?--/);
      // If the shell is installed, it checks the syntax.
      if (hasShell(shell)) execFileSync(shell, ['-n'], { input: stdout });
    }
    expect(hasShell('bash')).toBe(true);
  });

  test('no shell, an unknown one and several exit 2 and name those that there are', async () => {
    for (const words of ['complete', 'complete tcsh', 'complete bash zsh']) {
      const run = await runCommand(program, words.split(' '));
      expect(run).toMatchObject({ code: 2, stdout: '' });
      expect(run.stderr).toContain('Name one of bash, zsh, fish, powershell.');
    }
  });
});

test('a real bash completes commands, options and what they may be', async () => {
  const bash = await bashWithPrograms();
  const coordinator = 'gateway-coordinator';
  expect(await bash.offers(coordinator, 'key', 'cr')).toEqual(['create']);
  expect(await bash.offers(coordinator, 'complete', '')).toEqual([
    'bash',
    'zsh',
    'fish',
    'powershell',
  ]);
  expect(await bash.offers(coordinator, 'provider', 'share', 'den-pc', '--m')).toEqual([
    '--model',
    '--max-tokens',
    '--month',
  ]);
  const options = await bash.offers(coordinator, 'provider', 'share', '--');
  expect(options).toEqual(expect.arrayContaining(['--service', '--network', '--hours', '--data']));
  expect(await bash.offers(coordinator, 'user', 'role', 'anna', '')).toEqual(['admin', 'member']);
  expect(await bash.offers(coordinator, 'key', 'create', '--scope', 'o')).toEqual(['own']);
  expect(await bash.offers(coordinator, 'stats', '--by', 'm')).toEqual(['member', 'model']);
  expect(await bash.offers('gateway-agent', 'services', 'sc')).toEqual(['scan']);
  expect(await bash.offers('gateway-agent', 'pause', '--u')).toEqual(['--until']);
  // Bash itself completes file names.
  expect(await bash.offers(coordinator, 'start', '--config', '')).toEqual([]);
});

test('both scripts are read in one shell, twice, and run nothing that is half typed', async () => {
  const bash = await bashWithPrograms();
  const scripts = PROGRAMS.map((name) => `source <(${name} complete bash)`).join('\n');
  expect(await bash.run(`${scripts}\n${scripts}`)).toEqual({ stdout: '', stderr: '' });
  expect(await bash.offers('gateway-agent', 'start', '$(touch ran)', '')).toEqual([]);
  expect((await bash.run('ls')).stdout).not.toContain('ran');
});

test('nothing is loaded for an answer that only serving or a store needs', async () => {
  const env = { GATEWAY_DATA: '/nowhere', NODE_DEBUG: 'esm' };
  const words = ['complete', '--', 'qu'];
  // As it is built: the names of a bundle's files tell less.
  const file = new URL('../../../packages/coordinator/bin/gateway-coordinator.js', import.meta.url);
  const options = { env, script: { file, args: [] } };
  const { code, stdout, stderr } = await runProgram('gateway-coordinator', words, options);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'queue\tthe queue of jobs\n:4\n' });
  expect(stderr).toContain('/@bomb.sh/tab/');
  expect(stderr).not.toMatch(/node_modules\/(koa|ws)\//);
});

function hasShell(shell: string): boolean {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
