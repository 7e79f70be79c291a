import { expect } from 'vitest';
import type { DataFolder } from './data-folder.js';

/** A command, its exit code, and a part of its message. */
export type Failure = readonly [command: string, code: number, reason: string];

/** Each command fails with the given code and message, and prints no data. */
export async function expectFailures(
  folder: DataFolder,
  failures: readonly Failure[],
): Promise<void> {
  for (const [command, code, reason] of failures) {
    const run = await folder.run(command);
    expect(run, `${command}: ${run.stderr}`).toMatchObject({ code, stdout: '' });
    expect(run.stderr, command).toContain(reason);
  }
}
