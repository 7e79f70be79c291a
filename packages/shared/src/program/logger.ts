/** Logs on stderr: JSON lines for machines, one readable line per record on a terminal. */
import { pino, stdTimeFunctions } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { renameSync, statSync } from 'node:fs';
import { harmlessJson, harmlessText, say } from './print.js';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lines are buffered: a system call for each would cost a tenth of a request. */
const BATCH_BYTES = 12 * 1024;

const FLUSH_MS = 250;

/** To stderr, unless another destination is given. */
export function createLogger(level: LogLevel, elsewhere: DestinationStream | null = null): Logger {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime };
  if (elsewhere !== null) return pino(options, elsewhere);
  if (process.stderr.isTTY) return pino(options, readableLines);
  const destination = { dest: 2, sync: false, minLength: BATCH_BYTES, periodicFlush: FLUSH_MS };
  return pino(options, pino.destination(destination));
}

const readableLines: DestinationStream = {
  write(line) {
    const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
    const details = Object.entries(rest).map(([name, value]) => `${name}=${harmlessJson(value)}`);
    const severity = Number(level) >= 50 ? 'ERROR ' : Number(level) >= 40 ? 'WARN ' : '';
    const said = `${String(time).slice(11, 19)} ${severity}${harmlessText(String(msg))}`;
    say(`${said} ${details.join(' ')}`.trimEnd());
  },
};

// A log file with rotation, for systems without a log service.

/** At this size it becomes `<file>.1`, replacing an earlier one, and a new file is started. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Appends to the file, which is created with mode 0600, and its folder if it is missing. */
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
