import type { ChildProcess } from 'node:child_process';

/**
 * Kills a child at once. Node 20 also signals a child that could not be started, before it emits
 * the error, with an uninitialized process id. Seen was 0, which means this process, its shell and
 * all their children.
 */
export function killChild(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill('SIGKILL');
}
