/** From `argv` to an exit code: the only catch site of a program's command line. */
import type { CommandError } from './command-error.js';
import { EXIT } from './command-error.js';
import { PRIVATE_UMASK } from './owner.js';
import { errorText, say } from './print.js';

/**
 * What is needed here of a commander `Command`. `exitOverride` must be called before its commands
 * are added.
 */
interface Program extends CommandGroup {
  parseAsync(argv: string[]): Promise<unknown>;
}

interface CommandGroup {
  readonly commands: readonly CommandGroup[];
  name(): string;
  outputHelp(): void;
}

/**
 * Runs the program and sets the process's exit code. A usage error exits 2, a `CommandError` with
 * its own code, anything else 1 with its stack: that is our bug.
 */
export async function runProgram(program: Program, argv: string[]): Promise<void> {
  process.umask(PRIVATE_UMASK);
  exitQuietlyWhenReaderLeaves();
  outliveLogReader();
  const group = bareGroup(program, argv.slice(2));
  if (group !== null) return group.outputHelp();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** The program, or a noun of it, if nothing else is typed: prints its help. */
function bareGroup(program: CommandGroup, words: readonly string[]): CommandGroup | null {
  let group = program;
  for (const word of words) {
    const next = group.commands.find((one) => one.name() === word);
    if (next === undefined) return null;
    group = next;
  }
  return group.commands.length > 0 ? group : null;
}

function report(error: unknown): number {
  if (!(error instanceof Error)) throw error;
  if (isCommandError(error)) {
    say(errorText(error.message));
    return error.exitCode;
  }
  // commander has printed its own message; help and version are no failures.
  if ('code' in error && String(error.code).startsWith('commander.')) {
    return 'exitCode' in error && error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  say(error.stack ?? error.message);
  return EXIT.failure;
}

function isCommandError(error: Error): error is CommandError {
  return error.name === 'CommandError';
}

/** A closed stderr must not prevent a graceful shutdown. */
function outliveLogReader(): void {
  process.stderr.on('error', () => {});
}

/** `… | head` closes stdout early, which is no error. */
function exitQuietlyWhenReaderLeaves(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure);
  });
}
