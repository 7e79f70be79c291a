import { expect, test } from 'vitest';
import { createProgram } from '@inference-gateway/agent/cli/program';
import { runCommand } from '../../support/run-command.js';
import { agentHome } from './agent-program.js';

type Program = ReturnType<typeof createProgram>;

test('version prints the version alone, and with --json the protocol too', async () => {
  const home = await agentHome();
  expect(await home.run(['version'])).toMatchObject({ code: 0, stdout: '0.1.0\n', stderr: '' });
  const json = JSON.parse((await home.run(['version', '--json'])).stdout) as unknown;
  expect(json).toEqual({ version: '0.1.0', protocol: 1, node: process.versions.node });
});

test('help exits 0 and every command has an example in it', async () => {
  for (const words of commandsOf(createProgram())) {
    const help = await runCommand('gateway-agent', [...words, '--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain(`Example:\n  gateway-agent ${words.join(' ')}`);
    // Times are shown as they are written, not in milliseconds.
    expect(help.stdout).not.toMatch(/default: \d{3}/);
  }
});

test('status of an agent that does not run exits 9, and says so in JSON', async () => {
  const home = await agentHome();
  await home.writeConfig({ url: 'https://x.example', name: 'den' });
  const result = await home.run(['status', '--json', '--config', home.configFile]);
  expect(result.code).toBe(9);
  expect(JSON.parse(result.stdout)).toEqual({
    running: false,
    config: home.configFile,
    url: 'https://x.example',
    name: 'den',
  });
  const talk = await home.run(['status', '--config', home.configFile]);
  expect(talk).toMatchObject({ code: 9, stdout: '' });
  expect(talk.stderr).toContain('gateway-agent start');
});

test('status of a named configuration that is missing exits 3', async () => {
  const home = await agentHome();
  expect((await home.run(['status', '--config', `${home.folder}/none.json`])).code).toBe(3);
});

/** What is typed to reach each: `['services', 'add']`. */
function commandsOf(command: Program, words: readonly string[] = []): (readonly string[])[] {
  return command.commands.flatMap((one) => {
    const path = [...words, one.name()];
    return [path, ...commandsOf(one, path)];
  });
}
