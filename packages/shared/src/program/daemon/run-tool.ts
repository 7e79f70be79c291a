/** The tools of the operating system that manage services. */
import { execFile, spawn } from 'node:child_process';
import { CommandError, EXIT } from '../command-error.js';

/** A service that drains takes half a minute to stop. */
const TIMEOUT_MS = 90_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

export interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end. Throws a `CommandError` if it is missing or does not end. */
export function runTool(tool: string, args: readonly string[]): Promise<ToolResult> {
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true };
  return new Promise((done, failed) => {
    execFile(tool, args, options, (error, stdout, stderr) => {
      if (error === null) done({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') done({ code: error.code, stdout, stderr });
      else failed(unusable(tool, error as NodeJS.ErrnoException));
    });
  });
}

/** Throws with the tool's own message if it fails. */
export async function mustRun(tool: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runTool(tool, args);
  if (code === 0) return stdout;
  const reason = (stderr.trim() || stdout.trim() || `exit code ${code}`).replaceAll('\n', ' ');
  throw new CommandError(EXIT.failure, `"${[tool, ...args].join(' ')}" failed: ${reason}`);
}

/** The tool writes to this process's stdout. */
export function showTool(tool: string, args: readonly string[]): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn(tool, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', (error) => failed(unusable(tool, error)));
    child.once('close', (code, signal) => {
      // Ctrl-C reaches both processes; a reader that closes the pipe also ends it.
      if (code === 0 || signal !== null) return done();
      return failed(new CommandError(EXIT.failure, `${tool} ended with exit code ${code}.`));
    });
  });
}

function unusable(tool: string, error: NodeJS.ErrnoException): CommandError {
  const isMissing = error.code === 'ENOENT';
  const message = isMissing
    ? `there is no ${tool} here: run "gateway-agent start" under what starts services here.`
    : `${tool} did not end within ${TIMEOUT_MS / 1_000} s, or could not be run: ${error.message}`;
  return new CommandError(EXIT.failure, message, { cause: error });
}
