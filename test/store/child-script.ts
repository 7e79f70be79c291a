/** Runs a script of this folder in its own process, for tests that kill a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from '../support/until.js';

export interface ChildScript {
  /** Complete lines of its stdout so far. */
  lines(): string[];
  /** Waits for a line. */
  line(text: string): Promise<void>;
  /** Sends SIGKILL, which the script cannot handle. */
  kill(): Promise<void>;
}

export function startScript(name: string, args: readonly string[]): ChildScript {
  const file = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const closed = once(child, 'close');
  const lines = (): string[] => output.split('\n').slice(0, -1);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await closed;
  };
  const line = async (wanted: string): Promise<void> => {
    await until(() => lines().includes(wanted));
  };
  onTestFinished(kill);
  return { lines, kill, line };
}
