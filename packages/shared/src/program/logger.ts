/** Logs on stderr or in a file: JSON lines for machines, or one readable line per record. */
import { pino, stdTimeFunctions } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { renameSync, statSync } from 'node:fs';
import { harmlessJson, harmlessText, say } from './print.js';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'pretty'] as const;

export type LogFormat = (typeof LOG_FORMATS)[number];

/** Lines are buffered: a system call for each would cost a tenth of a request. */
const BATCH_BYTES = 12 * 1024;

const FLUSH_MS = 250;

/**
 * To stderr, unless another destination is given. Without a format: readable lines on a terminal,
 * JSON elsewhere.
 */
export function createLogger(
  level: LogLevel,
  elsewhere: DestinationStream | null = null,
  format: LogFormat | null = null,
): Logger {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime };
  const onTerminal = elsewhere === null && process.stderr.isTTY;
  if ((format ?? (onTerminal ? 'pretty' : 'json')) === 'json') {
    return pino(options, elsewhere ?? bufferedStderr());
  }
  const write = elsewhere === null ? say : (line: string) => elsewhere.write(`${line}\n`);
  return pino(options, readableLines(write, onTerminal ? timeOfDay : String));
}

function bufferedStderr(): DestinationStream {
  const destination = { dest: 2, sync: false, minLength: BATCH_BYTES, periodicFlush: FLUSH_MS };
  return pino.destination(destination);
}

/** On a terminal the date is known; a file or a log service is read later. */
const timeOfDay = (time: unknown): string => String(time).slice(11, 19);

function readableLines(
  write: (line: string) => void,
  timeText: (time: unknown) => string,
): DestinationStream {
  return {
    write(record) {
      const { level, time, msg, ...rest } = JSON.parse(record) as Record<string, unknown>;
      const details = Object.entries(rest).map(([name, value]) => `${name}=${harmlessJson(value)}`);
      const severity = Number(level) >= 50 ? 'ERROR ' : Number(level) >= 40 ? 'WARN ' : '';
      const said = `${timeText(time)} ${severity}${harmlessText(String(msg))}`;
      write(`${said} ${details.join(' ')}`.trimEnd());
    },
  };
}

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
