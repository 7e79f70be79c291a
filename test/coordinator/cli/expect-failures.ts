import { expect } from 'vitest';
import type { DataFolder } from './data-folder.js';

/** A command, its exit code, and a part of what it says. */
export type Failure = readonly [command: string, code: number, reason: string];

/** Each command fails as told, and prints no data. */
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
