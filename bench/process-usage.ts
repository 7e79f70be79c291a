/** What a process has used, read from Linux's /proc; NaN on other systems. */
import { readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** User and system time since the process started. */
export function cpuMs(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the command's name in brackets and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export function rssMb(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return Number(kib ?? Number.NaN) / 1024;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
