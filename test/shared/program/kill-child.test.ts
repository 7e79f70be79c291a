import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

const MODULE = import.meta.resolve('@inference-gateway/shared/program/kill-child');

/** The exit of a process in its own group; a signal to process 0 would end the whole group. */
async function outcomeOf(command: string): Promise<unknown> {
  const script = `
    import { spawn } from 'node:child_process';
    import { killChild } from '${MODULE}';
    const child = spawn(${JSON.stringify(command)}, ['60']);
    child.once('error', () => {});
    killChild(child);
    child.once('close', (code, signal) => process.exit(signal === 'SIGKILL' ? 7 : 3));
  `;
  const args = ['--input-type=module', '-e', script];
  const program = spawn(process.execPath, args, { detached: true, stdio: 'ignore' });
  onTestFinished(() => void program.kill());
  const [code, signal] = (await once(program, 'exit')) as [number | null, string | null];
  return code ?? signal;
}

test('a child that runs is ended', async () => {
  expect(await outcomeOf('sleep')).toBe(7);
});

test('one that could not be started takes nobody along', async () => {
  expect(await outcomeOf('/nowhere/sleep')).toBe(3);
});
