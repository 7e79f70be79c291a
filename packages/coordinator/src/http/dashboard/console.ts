/**
 * `/api/console/v1/my/<command>`: operations of members on their own data, and `…/admin/<command>`:
 * operations of administrators. Reads are GET with `?args=<JSON>`, changes POST.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import type Router from '@koa/router';
import { CommandError, EXIT, TooManyTries } from '@inference-gateway/shared/program/command-error';
import type { ExitCode } from '@inference-gateway/shared/program/command-error';
import type {
  Area,
  ConsoleCommand,
  ConsoleCommands,
} from '../../operations/my/console-commands.js';
import { RateLimit } from '../../core/access/rate.js';
import { fieldAtFault } from '../../operations/my/console-commands.js';
import type { ConsoleSessions, LoggedIn } from '../accounts/browser-sessions.js';
import { requireProof } from '../accounts/log-in.js';
import type { LogIn } from '../accounts/log-in.js';
import type { Context, RequestState } from '../edge/context.js';
import type { MemberReads } from '../edge/member-reads.js';
import { queryText } from '../edge/read-query.js';
import type { JsonBodies } from '../bodies/body.js';

/** Per member and minute: more than a person clicks. */
const MAX_CHANGES = 120;

const WINDOW_MS = 60_000;

export interface ConsoleParts {
  readonly bodies: JsonBodies;
  readonly sessions: ConsoleSessions;
  readonly commands: ConsoleCommands;
  readonly reads: MemberReads;
  /** Checks a password before ways to log in are changed. */
  readonly logIn: LogIn;
}

export function consoleRoutes(router: Router<RequestState>, parts: ConsoleParts): void {
  const { bodies, sessions, commands, reads } = parts;
  const changes = new RateLimit(MAX_CHANGES, WINDOW_MS);

  for (const area of ['my', 'admin'] as const) {
    const path = `/api/console/v1/${area}/:command`;
    const admit = async (ctx: Context): Promise<Admitted> => {
      const loggedIn = await sessions.identify(ctx);
      refuseUnlessAllowed(area, loggedIn);
      return { loggedIn, command: commandOf(ctx, commands, area) };
    };
    router.get(path, async (ctx) => {
      const admitted = await admit(ctx);
      requireKind(ctx, admitted.command, 'read');
      const args = readArgs(ctx);
      const { id } = admitted.loggedIn.member;
      ctx.body = await reads.take(id, () => run(ctx, parts, { ...admitted, args }));
    });
    router.post(path, async (ctx) => {
      const admitted = await admit(ctx);
      requireKind(ctx, admitted.command, 'change');
      requirePace(changes, admitted.loggedIn.member.id);
      const args = await bodies.read(ctx, admitted.loggedIn.member.id);
      // It may contain a key or an invite, which is shown only this once.
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await run(ctx, parts, { ...admitted, args });
    });
  }
}

interface Admitted {
  readonly loggedIn: LoggedIn;
  readonly command: ConsoleCommand;
}

async function run(
  ctx: Context,
  { logIn }: ConsoleParts,
  { command, loggedIn, args }: Admitted & { readonly args: unknown },
): Promise<object> {
  const address = ctx.state.ip;
  const prove = (password: string | null): Promise<void> =>
    requireProof(logIn, { password, loggedIn, address, now: ctx.state.now() });
  try {
    return await command.run({ ...loggedIn, address, prove }, args);
  } catch (error) {
    throw commandFault(error);
  }
}

function refuseUnlessAllowed(area: Area, { member }: LoggedIn): void {
  if (area === 'my' || member.role === 'admin') return;
  throw new ApiError('not_allowed', 'Only admins may do this. Ask one of them.');
}

function commandOf(ctx: Context, commands: ConsoleCommands, area: Area): ConsoleCommand {
  const name = ctx.path.slice(ctx.path.lastIndexOf('/') + 1);
  const command = commands.find(area, name);
  if (command !== null) return command;
  const message = `There is no command at ${ctx.path}. Load the page again.`;
  throw new ApiError('unknown_url', message);
}

function requireKind(ctx: Context, { kind }: ConsoleCommand, wanted: ConsoleCommand['kind']): void {
  if (kind === wanted) return;
  const allowed = kind === 'read' ? 'GET' : 'POST';
  const message = `${ctx.method} is not possible on ${ctx.path}. Use ${allowed}.`;
  throw new ApiError('method_not_allowed', message, { headers: { Allow: allowed } });
}

function requirePace(changes: RateLimit, memberId: string): void {
  const { allowed, retryAfterS } = changes.take(memberId, performance.now());
  if (allowed) return;
  const message =
    `You have made ${MAX_CHANGES} changes within a minute, which is all you may. ` +
    `Try again in ${retryAfterS} seconds.`;
  throw new ApiError('rate_limit_exceeded', message, { retryAfterS });
}

/** Empty if the query has none. */
function readArgs(ctx: Context): unknown {
  const written = queryText(ctx, 'args');
  if (written === null) return {};
  try {
    return JSON.parse(written);
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new ApiError('invalid_json', `args is not valid JSON: ${reason}.`, { param: 'args' });
  }
}

// Errors of commands as API errors.

const CODES: Partial<Readonly<Record<ExitCode, ErrorCode>>> = {
  [EXIT.usage]: 'invalid_value',
  [EXIT.notFound]: 'not_found',
  [EXIT.notAuthorised]: 'not_allowed',
  [EXIT.conflict]: 'conflict',
};

/** Other errors are returned unchanged. */
function commandFault(error: unknown): unknown {
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

/** Messages of commands follow `error: `, and begin in lower case. */
function asSentence(message: string): string {
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
