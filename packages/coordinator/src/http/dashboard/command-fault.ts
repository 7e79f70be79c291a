/** What a command refuses, as the API's own error. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { CommandError, EXIT, TooManyTries } from '@inference-gateway/shared/program/command-error';
import type { ExitCode } from '@inference-gateway/shared/program/command-error';
import { fieldAtFault } from '../../operations/my/field-at-fault.js';

const CODES: Partial<Readonly<Record<ExitCode, ErrorCode>>> = {
  [EXIT.usage]: 'invalid_value',
  [EXIT.notFound]: 'not_found',
  [EXIT.notAuthorised]: 'not_allowed',
  [EXIT.conflict]: 'conflict',
};

/** Everything else stays what it is. */
export function commandFault(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  if (error instanceof TooManyTries) {
    const { message, retryAfterS } = error;
    return new ApiError('rate_limit_exceeded', asSentence(message), { retryAfterS });
  }
  const code = CODES[error.exitCode];
  if (code === undefined) return error;
  const param = fieldAtFault(error);
  return new ApiError(code, asSentence(error.message), param === null ? {} : { param });
}

/** Commands tell their faults after `error: `, and begin small. */
function asSentence(message: string): string {
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
