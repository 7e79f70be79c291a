/** NVIDIA's own tool: exact names and memory, where its driver is installed. */
import { execFile } from 'node:child_process';
import type { Gpu } from './gpu.js';

const FIELDS = [
  'index',
  'uuid',
  'name',
  'memory.total',
  'memory.used',
  'utilization.gpu',
  'driver_version',
  'compute_cap',
] as const;
const TIMEOUT_MS = 5_000;
/** What HELLO carries. */
const MAX_NAME = 256;
const MAX_OUTPUT_BYTES = 256 * 1024;

interface NvidiaSmi {
  readonly command: string;
  readonly timeoutMs: number;
}

const INSTALLED: NvidiaSmi = { command: 'nvidia-smi', timeoutMs: TIMEOUT_MS };

/** The cards; rejects where the tool is missing, fails, or takes longer than its time. */
export function readNvidiaSmi({ command, timeoutMs } = INSTALLED): Promise<Gpu[]> {
  const args = [`--query-gpu=${FIELDS.join(',')}`, '--format=csv,noheader,nounits'];
  // A driver that hangs ignores SIGTERM.
  const options = {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
  } as const;
  return new Promise((done, failed) => {
    execFile(command, args, { ...options, windowsHide: true }, (error, stdout) => {
      if (error === null) done(parse(stdout));
      else failed(error);
    });
  });
}

/** One card a line; a line with other fields than were asked for is no card. */
function parse(stdout: string): Gpu[] {
  return stdout.split('\n').flatMap((line) => {
    const cells = line.split(',').map((cell) => cell.trim());
    if (cells.length !== FIELDS.length) return [];
    const cell = (field: (typeof FIELDS)[number]) => known(cells[FIELDS.indexOf(field)]);
    const [name, driver] = [cell('name'), cell('driver_version')];
    return [{ name, vendor: 'NVIDIA', vram_mib: mebibytes(cell('memory.total')), driver }];
  });
}

/** The tool writes `[N/A]`, `[Not Supported]` or `[Unknown Error]` for what it does not know. */
function known(cell: string | undefined): string | null {
  return cell === undefined || cell === '' || /^\[.*\]$|^N\/A$/.test(cell)
    ? null
    : cell.slice(0, MAX_NAME);
}

/** Null on cards that share the machine's memory, such as GB10 and Jetson. */
function mebibytes(cell: string | null): number | null {
  return cell !== null && /^[1-9]\d{0,8}$/.test(cell) ? Number(cell) : null;
}
