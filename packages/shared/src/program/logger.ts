/** Logs, on stderr: JSON lines for machines, one readable line a record on a terminal. */
import { pino, stdTimeFunctions } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { harmlessJson, harmlessText, say } from './print.js';

export type Logger = PinoLogger;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lines are written together: a system call for each would cost a tenth of a request. */
const BATCH_BYTES = 12 * 1024;
const FLUSH_MS = 250;

/** On stderr, unless another destination is given. */
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
