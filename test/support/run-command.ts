/** Many command lines of a real program, for tests to which only their outcomes matter. */
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { hasEnded, openProgram } from './program.js';
import type { Finished, OpenProgram, ProgramName, RunOptions } from './program.js';
import { until } from './until.js';

/** What a command leaves open would keep its own process from ending, too. */
const END_TIMEOUT_MS = 10_000;

export interface ManyCommands {
  /** Runs one to its end, after those that were asked for before. */
  run(words: readonly string[]): Promise<Finished>;
}

/** Those that the tests before have done with. */
const idle: CommandProcess[] = [];

/**
 * They run in one process, which no other test uses meanwhile, but the later ones of the file do.
 * It must end by itself when they have all run: `endCommands` sees to that.
 */
export function manyCommands(name: ProgramName, env: RunOptions['env'] = {}): ManyCommands {
  const index = idle.findIndex((other) => other.name === name);
  const process = idle.splice(index, index < 0 ? 0 : 1)[0] ?? new CommandProcess(name);
  onTestFinished(async () => {
    if (process.isBusy || hasEnded(process.program)) await process.end();
    else idle.push(process);
  });
  return { run: (words) => process.run({ words, env }) };
}

/** Ends the processes of a file of tests, each of which must do so by itself. */
export async function endCommands(): Promise<void> {
  await Promise.all(idle.splice(0).map((process) => process.end()));
}

interface Line {
  readonly words: readonly string[];
  /** All that the command sees, but for PATH where it is not given. */
  readonly env: RunOptions['env'];
}

class CommandProcess {
  readonly name: ProgramName;
  readonly program: OpenProgram;
  readonly #answers: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();
  #running = 0;

  constructor(name: ProgramName) {
    const file = new URL('run-command-lines.js', import.meta.url);
    const script = { file, args: [name.replace('gateway-', '')] };
    this.name = name;
    this.program = openProgram(name, [], { script, input: null });
    this.#answers = createInterface({ input: this.program.child.stdout })[Symbol.asyncIterator]();
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  run(line: Line): Promise<Finished> {
    this.#running++;
    const next = this.#last.then(() => this.#runNow(line)).finally(() => this.#running--);
    this.#last = next.catch(() => {});
    return next;
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

  async #runNow(line: Line): Promise<Finished> {
    this.program.child.stdin.write(`${JSON.stringify(line)}\n`);
    const { value, done } = await this.#answers.next();
    if (done !== true) return JSON.parse(value) as Finished;
    const { stderr } = await this.program.finished;
    throw new Error(`"${line.words.join(' ')}" ended the process: ${stderr}`);
  }
}
