/** Processes that are not children of the test process or of its servers. */
import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** Starts a process whose parent has exited, and returns its pid. It ends with the test. */
export function startStranger(): number {
  const script = 'sleep 600 >/dev/null 2>&1 & echo $!';
  const pid = Number(execFileSync('sh', ['-c', script], { encoding: 'utf8' }));
  onTestFinished(() => void process.kill(pid, 'SIGKILL'));
  return pid;
}
