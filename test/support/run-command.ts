/** Command lines of a real program, for tests that look only at their outcome. */
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { ProgramName } from './bundled-programs.js';
import { hasEnded, openProgram, runProgram } from './program.js';
import type { Finished, OpenProgram, RunOptions } from './program.js';
import { until } from './until.js';

/** A command that leaves something open keeps this process from ending, as it would its own. */
const END_TIMEOUT_MS = 10_000;

/** One command uses a process at a time; later tests of the file reuse it. */
const idle: CommandProcess[] = [];

/**
 * Runs a command to its end in a reused process, because the start of a process is most of a
 * command's cost. A command with an input, a script or a `NODE_` variable, which Node reads at its
 * start, gets its own process. Tests of signals, raw output or the user that a command runs as call
 * `runProgram`.
 */
export async function runCommand(
  name: ProgramName,
  words: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  if (needsOwnProcess(options)) return runProgram(name, words, options);
  const index = idle.findIndex((other) => other.name === name);
  const process = idle.splice(index, index < 0 ? 0 : 1)[0] ?? new CommandProcess(name);
  let isOver = false;
  // If the test ends while a command runs, its process is killed.
  onTestFinished(async () => {
    if (!isOver) await process.program.kill();
  });
  const finished = await process.run({ words, env: options.env });
  isOver = true;
  idle.push(process);
  return finished;
}

function needsOwnProcess({ input, script, env = {} }: RunOptions): boolean {
  const isPlain = input === undefined && script === undefined;
  return !isPlain || Object.keys(env).some((variable) => variable.startsWith('NODE_'));
}

/** Ends the processes of a test file; each must exit by itself. */
export async function endCommands(): Promise<void> {
  await Promise.all(idle.splice(0).map((process) => process.end()));
}

interface Line {
  readonly words: readonly string[];
  /** The whole environment of the command; PATH is added if it is missing. */
  readonly env: RunOptions['env'];
}

class CommandProcess {
  readonly name: ProgramName;
  readonly program: OpenProgram;
  readonly #answers: AsyncIterator<string>;

  constructor(name: ProgramName) {
    const file = new URL('run-command-lines.js', import.meta.url);
    const script = { file, args: [name.replace('gateway-', '')] };
    this.name = name;
    this.program = openProgram(name, [], { script, input: null });
    this.#answers = createInterface({ input: this.program.child.stdout })[Symbol.asyncIterator]();
  }

  async run(line: Line): Promise<Finished> {
    this.program.child.stdin.write(`${JSON.stringify(line)}\n`);
    const { value, done } = await this.#answers.next();
    if (done !== true) return JSON.parse(value) as Finished;
    const { stderr } = await this.program.finished;
    throw new Error(`"${line.words.join(' ')}" ended the process: ${stderr}`);
  }

  async end(): Promise<void> {
    this.program.child.stdin.end();
    try {
      await until(() => hasEnded(this.program), {
        timeoutMs: END_TIMEOUT_MS,
        what: 'the end of a process that has nothing more to run',
      });
    } finally {
      await this.program.kill();
    }
  }
}
