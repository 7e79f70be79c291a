/**
 * The API with a session instead of a key, for pages of the dashboard. A call is rewritten to the
 * API call that it corresponds to, and then served like any other.
 */
import { ENDPOINT_KEYS, ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { CONSOLE } from '../../core/access/caller.js';
import type { Caller } from '../../core/access/caller.js';
import type { Member } from '../../store/port.js';
import { isOpenedByLink } from '../assets/asset-access.js';
import type { ConsoleSessions } from '../accounts/browser-sessions.js';
import { API_NAMES, TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import { sentKey } from '../edge/authenticate.js';
import { CREDENTIALS } from '../edge/context.js';
import type { Context, Middleware } from '../edge/context.js';
import { forbidOtherOrigins } from '../edge/edge.js';
import { requireOwnPage } from '../edge/same-origin.js';

const MOUNT = /^\/api\/console(\/v1\/([^/]+).*)$/;
const FILES_AND_QUEUE = '/api/inference/';

/** Paths after `/v1/`; other paths below the mount are the dashboard's own. */
const CALLS = new Set([
  'models',
  'jobs',
  'batches',
  'files',
  ...ENDPOINT_KEYS.map((key) => ENDPOINTS[key].path.split('/')[1]),
  ...API_NAMES.map((api) => TRANSLATED_APIS[api].path.split('/')[1]),
]);

export interface ConsoleCallParts {
  readonly sessions: ConsoleSessions;
  readonly ownOrigins: () => readonly string[];
}

/** Sets the caller if the request uses a session. Throws `not_logged_in`. */
export function consoleCalls({ sessions, ownOrigins }: ConsoleCallParts): Middleware {
  const identify = async (ctx: Context): Promise<void> => {
    const { member } = await sessions.identify(ctx);
    ctx.state.caller = { ...toCaller(member), confirm: () => sessions.confirm(ctx) };
  };
  return async (ctx, next) => {
    const call = callOf(ctx.path);
    if (call !== null) {
      await identify(ctx);
      ctx.path = call;
    } else if (takesEither(ctx) && !isOpenedByLink(ctx)) {
      ctx.vary(CREDENTIALS);
      if (sentKey(ctx) === null && sessions.isNamedBy(ctx)) {
        forbidOtherOrigins(ctx);
        requireOwnPage(ctx, ownOrigins());
        // A file has its own cache headers.
        ctx.set('Cache-Control', 'private, no-cache');
        await identify(ctx);
      }
    }
    return next();
  };
}

/** `/v1/models` for `/api/console/v1/models`; null if it corresponds to no call. */
function callOf(path: string): string | null {
  const [, call = '', first = ''] = MOUNT.exec(path) ?? [];
  return CALLS.has(first) ? call : null;
}

/** A page embeds files by URL, to which it cannot add a key. */
function takesEither({ path }: Context): boolean {
  return path.startsWith(FILES_AND_QUEUE);
}

function toCaller({ id, name, limits }: Member): Caller {
  // Its cookie permits fetching files; changing links would make a page load each again.
  const assets = 'private';
  return { memberId: id, memberName: name, keyId: CONSOLE, scope: 'any', assets, limits };
}
