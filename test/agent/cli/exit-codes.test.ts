/**
 * Exit codes of every command that its own test does not tell: 4, 5 and 7 are also in
 * enroll.test.ts, login.test.ts and start.test.ts, 6 in services.test.ts, 8 in drain.test.ts.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { leafCommands } from '../../support/command-tree.js';
import { hangBeforeHeaders } from '../../support/fake-behaviours.js';
import { runCommand } from '../../support/run-command.js';
import { runProgram } from '../../support/program.js';
import { until } from '../../support/until.js';
import { usageErrors } from '../../support/usage-errors.js';
import { agentHome } from './agent-program.js';
import { jobHome } from './job-home.js';

const PROGRAM = 'gateway-agent';
const ASKS_AGENT = ['status', 'pause', 'resume', 'drain', 'jobs'];
/** It can be removed, whatever the file contains. */
const MANAGES_SERVICE = [
  ...['uninstall', 'start', 'stop', 'status'].map((verb) => `service ${verb}`),
  'logs',
];
/** As it is typed, but for the configuration. */
const READS_CONFIG = [
  ...ASKS_AGENT,
  'start',
  'test llm-1',
  'services list',
  'services scan --port 9',
  'services add --type llm --backend openai --base-url http://127.0.0.1:9',
  'services remove llm-1 --yes',
  'services share llm-1 --network friends',
  'services unshare llm-1',
  'services limit llm-1 --foreign no',
  'version --check',
  'upgrade --check',
  'wait --timeout 1s',
  'service install --user',
  ...MANAGES_SERVICE,
];

test('whatever is left out, unknown or too much exits 2, in every command', async () => {
  const { folder } = await agentHome();
  const env = { XDG_CONFIG_HOME: folder, HOME: folder };
  const errors = usageErrors(PROGRAM);
  expect(errors.length).toBeGreaterThan(leafCommands(PROGRAM).length * 3);
  for (const { words, says } of errors) {
    const line = words.join(' ');
    const { code, stdout, stderr } = await runCommand(PROGRAM, words, { env });
    expect({ line, code, stdout }, stderr).toEqual({ line, code: 2, stdout: '' });
    expect(stderr, line).toContain(says);
  }
});

test('the rows of this file have every command that reads the configuration', () => {
  // The doctor reports a wrong configuration as one of its checks.
  const enrolling = ['enroll', 'login', 'doctor'];
  const withConfig = leafCommands(PROGRAM).filter(
    ({ name, command }) =>
      command.options.some(({ long }) => long === '--config') && !enrolling.includes(name),
  );
  const told = READS_CONFIG.map((line) => line.replace(/ (--|llm-1).*/, ''));
  expect(told.toSorted()).toEqual(withConfig.map(({ name }) => name).toSorted());
});

test('a named configuration that is missing exits 3, and one that is wrong 2', async () => {
  const home = await agentHome();
  const wrong = join(home.folder, 'wrong.json');
  await writeFile(wrong, '{"urll": 1}');
  for (const line of READS_CONFIG) {
    const missing = join(home.folder, 'none.json');
    const run = await home.run([...line.split(' '), '--config', missing]);
    expect({ line, ...run }).toMatchObject({ line, code: 3, stdout: '' });
    expect(run.stderr, line).toContain(missing);
    const faulty = await home.run([...line.split(' '), '--config', wrong]);
    // Whether an agent runs has nothing to do with what the file says.
    const code = ASKS_AGENT.includes(line) ? 9 : MANAGES_SERVICE.includes(line) ? 3 : 2;
    expect({ line, ...faulty }).toMatchObject({ line, code, stdout: '' });
  }
});

test.each(ASKS_AGENT)("%s asks nothing of another user's agent: it exits 4", async (command) => {
  const { folder, configFile } = await agentHome();
  const stateDir = `${configFile}.state`;
  await mkdir(stateDir);
  // Root may open everything: its test gives that up first.
  if (process.getuid?.() === 0) await chmod(folder, 0o755);
  await chmod(stateDir, process.getuid?.() === 0 ? 0o700 : 0o000);
  onTestFinished(() => chmod(stateDir, 0o700));
  const file = new URL('../../support/as-nobody.js', import.meta.url);
  const script = { file, args: ['agent'] };
  const args = [command, '--config', configFile];
  const { code, stdout, stderr } = await runProgram(PROGRAM, args, { script });
  expect({ code, stdout }, stderr).toEqual({ code: 4, stdout: '' });
  expect(stderr).toBe(
    `error: the agent on ${stateDir} belongs to another user: run this as that one.\n`,
  );
});

test('the second Ctrl-C stops at once and exits 130', async () => {
  const home = await jobHome();
  home.server.behave(hangBeforeHeaders());
  const { program, link } = await home.startAgent();
  link.open(1);
  await until(() => home.server.requests.length === 1);
  program.child.kill('SIGINT');
  await until(() => program.output.stderr.includes('Press Ctrl-C again'));
  program.child.kill('SIGINT');
  expect((await program.finished).code).toBe(130);
});
