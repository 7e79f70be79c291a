import type { ChildProcess } from 'node:child_process';

/**
 * Ends a child at once. Node 20 also signals one that could not be started, as long as it has not
 * said so: to whatever number lies in memory. Seen was 0, which stands for this process, its shell
 * and all that they have started.
 */
export function killChild(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill('SIGKILL');
}
