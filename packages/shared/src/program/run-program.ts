/** From `argv` to an exit code: the only catch site of a program's command line. */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
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

// Memory use of both programs.

/**
 * By how many percent V8's heap grows before a full collection while collections are rare. More
 * makes a program larger by what small requests leave behind.
 */
const CALM_GROWTH_PERCENT = 70;
/** Full collections that follow each other faster are caused by forwarded bytes. */
const FREQUENT_MS = 500;

/**
 * Sets by how many percent V8's heap grows before a full collection. Forwarded bytes are buffers
 * outside of the heap, which make V8 collect: with small heaps every 30 ms of an upload. With
 * `busyPercent` an upload took a third of the CPU and was two and a half times as fast, and memory
 * rose by 7 MiB instead of 30 (`npm run bench -- media`).
 */
export function tuneHeap(busyPercent: number): void {
  setFlagsFromString(`--heap-growing-percent=${busyPercent}`);
  setTimeout(() => setFlagsFromString('--no-maglev'), STARTED_MS).unref();
  growAsNeeded(busyPercent);
}

/** V8 reads the flag at the end of each full collection. */
function growAsNeeded(busyPercent: number): void {
  let collectedAt = 0;
  let percent = busyPercent;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!isFull(entry)) continue;
      const { startTime } = entry;
      const next = startTime - collectedAt < FREQUENT_MS ? busyPercent : CALM_GROWTH_PERCENT;
      collectedAt = startTime;
      if (next === percent) continue;
      percent = next;
      setFlagsFromString(`--heap-growing-percent=${percent}`);
    }
  }).observe({ entryTypes: ['gc'] });
}

function isFull(entry: PerformanceEntry): boolean {
  const { detail } = entry as { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

/**
 * By then a program has started. Node 24's additional compiler, Maglev, takes 40 MB at once, which
 * stay with the allocator, and saves no CPU time of a request. Without it, Node compiles anew those
 * of its own modules that it loads later: 5 MB at the start.
 */
const STARTED_MS = 1_000;
