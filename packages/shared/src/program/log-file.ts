/** A log file of limited size, for where the operating system keeps no log. */
import { renameSync, statSync } from 'node:fs';
import { pino } from 'pino';
import type { DestinationStream } from 'pino';

/** Then it becomes `<file>.1`, in place of an earlier one, and a new one is begun. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Appends to the file, which is created with mode 0600; so is its folder, where it is missing. */
export function logFile(file: string, maxBytes = MAX_BYTES): DestinationStream {
  const destination = pino.destination({ dest: file, mkdir: true, mode: 0o600, sync: true });
  let bytes = sizeOf(file);
  return {
    write(line) {
      if (bytes + line.length > maxBytes && bytes > 0) {
        renameSync(file, `${file}.1`);
        destination.reopen();
        bytes = 0;
      }
      bytes += Buffer.byteLength(line);
      destination.write(line);
    },
  };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
