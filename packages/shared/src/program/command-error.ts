/** Exit codes of both programs; `docs/cli.md` prints them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  notAuthorised: 4,
  coordinatorUnreachable: 5,
  localServerUnreachable: 6,
  conflict: 7,
  timeout: 8,
  checkFailed: 9,
  schemaNewer: 10,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure of a command that its user can act on: printed as one line, without a stack. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

/** Refused for now, because of earlier attempts of the same user. */
export class TooManyTries extends CommandError {
  readonly retryAfterS: number;

  constructor(message: string, retryAfterS: number) {
    super(EXIT.notAuthorised, message);
    this.retryAfterS = retryAfterS;
  }
}
