/** The tools of the operating system that manage services. */
import { execFile, spawn } from 'node:child_process';
import { CommandError, EXIT } from '../command-error.js';

/** Much longer than any of these tools takes, beside the time of a service that drains. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

export interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The tools, for the services of one program. */
export class Tools {
  readonly #program: string;
  readonly #timeoutMs: number;

  /** `stopSeconds`: a tool that stops the service waits for its end this long. */
  constructor(program: string, stopSeconds: number) {
    this.#program = program;
    this.#timeoutMs = stopSeconds * 1_000 + TIMEOUT_MS;
  }

  /** Runs one to its end. Throws a `CommandError` if it is missing or does not end. */
  run(tool: string, args: readonly string[]): Promise<ToolResult> {
    const limits = { timeout: this.#timeoutMs, maxBuffer: MAX_OUTPUT_BYTES };
    return new Promise((done, failed) => {
      execFile(tool, args, { ...limits, windowsHide: true }, (error, stdout, stderr) => {
        if (error === null) done({ code: 0, stdout, stderr });
        else if (typeof error.code === 'number') done({ code: error.code, stdout, stderr });
        else failed(this.#unusable(tool, error as NodeJS.ErrnoException));
      });
    });
  }

  /** Throws with the tool's own message if it fails. */
  async mustRun(tool: string, args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(tool, args);
    if (code === 0) return stdout;
    const reason = (stderr.trim() || stdout.trim() || `exit code ${code}`).replaceAll('\n', ' ');
    throw new CommandError(EXIT.failure, `"${[tool, ...args].join(' ')}" failed: ${reason}`);
  }

  /** The tool writes to this process's stdout. */
  show(tool: string, args: readonly string[]): Promise<void> {
    return new Promise((done, failed) => {
      const child = spawn(tool, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      child.once('error', (error) => failed(this.#unusable(tool, error)));
      child.once('close', (code, signal) => {
        // Ctrl-C reaches both processes; a reader that closes the pipe also ends it.
        if (code === 0 || signal !== null) return done();
        return failed(new CommandError(EXIT.failure, `${tool} ended with exit code ${code}.`));
      });
    });
  }

  #unusable(tool: string, error: NodeJS.ErrnoException): CommandError {
    const start = `run "${this.#program} start" under what starts services here.`;
    const seconds = this.#timeoutMs / 1_000;
    const message =
      error.code === 'ENOENT'
        ? `there is no ${tool} here: ${start}`
        : `${tool} did not end within ${seconds} s, or could not be run: ${error.message}`;
    return new CommandError(EXIT.failure, message, { cause: error });
  }
}
