/** Many command lines of a real program, for tests to which only their outcomes matter. */
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { startProgram } from './program.js';
import type { Finished, ProgramName, RunningProgram, RunOptions } from './program.js';
import { until } from './until.js';

/** What a command leaves open would keep its own process from ending, too. */
const END_TIMEOUT_MS = 10_000;

export interface ManyCommands {
  /** Runs one to its end, after those that were asked for before. */
  run(words: readonly string[]): Promise<Finished>;
}

/** They run in one process, which starts now and must end by itself when the test does. */
export function manyCommands(name: ProgramName, env: RunOptions['env'] = {}): ManyCommands {
  const file = new URL('run-command-lines.js', import.meta.url);
  const script = { file, args: [name.replace('gateway-', '')] };
  const program = startProgram(name, [], { script, env, input: null });
  const { stdin, stdout } = program.child;
  if (stdin === null || stdout === null) throw new Error('the process has no pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const run = async (words: readonly string[]): Promise<Finished> => {
    stdin.write(`${JSON.stringify(words)}\n`);
    const { value, done } = await lines.next();
    if (done !== true) return JSON.parse(value) as Finished;
    throw new Error(`"${words.join(' ')}" ended the process: ${(await program.finished).stderr}`);
  };
  onTestFinished(async () => {
    stdin.end();
    await until(() => hasEnded(program), { timeoutMs: END_TIMEOUT_MS });
  });
  return {
    run(words) {
      const next = last.then(() => run(words));
      last = next.catch(() => {});
      return next;
    },
  };
}

function hasEnded({ child }: RunningProgram): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
