/** The error for a request without a route: an unknown path, or another method. */
import { ApiError } from '@inference-gateway/shared/errors';
import { nearest } from '@inference-gateway/shared/nearest';
import type Router from '@koa/router';
import type { Context, Middleware, RequestState } from './context.js';

export function unrouted(router: Router<RequestState>): Middleware {
  const served = servedPaths(router);
  return (ctx: Context & { matched?: readonly { methods: string[] }[] }) => {
    const methods = new Set((ctx.matched ?? []).flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new ApiError('unknown_url', unknownPath(ctx.path, served));
    const allowed = [...methods].join(', ');
    const message = `${ctx.method} is not possible on ${ctx.path}. Use ${allowed}.`;
    throw new ApiError('method_not_allowed', message, { headers: { Allow: allowed } });
  };
}

const ELSE = 'The API is below /v1; see GET /v1/models.';
/** Characters of a path that are repeated in the error. */
const MAX_SHOWN = 120;

function unknownPath(path: string, served: readonly string[]): string {
  const foreign = foreignApi(path);
  if (foreign !== null) {
    const [name, instead] = foreign;
    const remedy = instead === null ? ELSE : `Use ${instead}.`;
    return `This gateway does not serve ${name}. ${remedy}`;
  }
  const shown = path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path;
  const [near] = nearest(shown, served);
  return `There is nothing at ${shown}. ${near === undefined ? ELSE : `Did you mean ${near}?`}`;
}

const CHAT = '/v1/chat/completions';

/**
 * Paths of OpenAI's API and of other APIs that clients use, with their replacement here. The first
 * match counts.
 */
const FOREIGN: readonly (readonly [path: string, instead: string | null])[] = [
  ['/v1/responses', '/v1/responses, /v1/responses/{id} or its /cancel'],
  ['/v1/messages', '/v1/messages or /v1/messages/count_tokens'],
  ['/v1/moderations', null],
  ['/v1/assistants', CHAT],
  ['/v1/threads', CHAT],
  ['/v1/conversations', CHAT],
  ['/v1/chatkit', CHAT],
  ['/v1/realtime', CHAT],
  ['/v1/files', '/v1/files, /v1/files/{id} or its /content'],
  ['/v1/uploads', '/v1/batches, which takes its requests in its body'],
  ['/v1/vector_stores', null],
  ['/v1/containers', null],
  ['/v1/skills', null],
  ['/v1/evals', null],
  ['/v1/graders', null],
  ['/v1/fine_tuning', null],
  ['/v1/fine-tunes', null],
  ['/v1/engines', '/v1/models'],
  ['/v1/organization', null],
  ['/v1/images/variations', '/v1/images/edits'],
  ['/v1/videos', '/v1/videos/generations'],
  ['/api/chat', CHAT],
  ['/api/generate', '/v1/completions'],
  ['/api/tags', '/v1/models'],
];

/** With or without `/v1`, depending on the base URL. */
function foreignApi(path: string): readonly [name: string, instead: string | null] | null {
  const versioned = path.startsWith('/v1/') || path.startsWith('/api/') ? path : `/v1${path}`;
  const row = FOREIGN.find(([name]) => versioned === name || versioned.startsWith(`${name}/`));
  return row ?? null;
}

/** The paths that callers use, as they are written in documents: `/v1/jobs/{id}`. */
function servedPaths(router: Router<RequestState>): readonly string[] {
  const paths = router.stack.flatMap(({ path }) =>
    typeof path === 'string' && CALLERS.test(path) ? [path] : [],
  );
  return [...new Set(paths.map((path) => path.replaceAll(/:(\w+)/g, '{$1}')))];
}

const CALLERS = /^\/(v1\/|api\/inference\/|openapi|healthz|readyz)/;
