/** `POST /messages/count_tokens`: the tokens of a prompt before it is sent. */
import { TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type Router from '@koa/router';
import { knownModels } from '../../core/routing/match.js';
import type { Links } from '../../core/routing/links.js';
import { modelNotFound } from '../../run/absence.js';
import type { JsonBodies } from '../bodies/body.js';
import { callerOf } from '../edge/context.js';
import type { RequestState } from '../edge/context.js';

interface CountingParts {
  readonly bodies: JsonBodies;
  readonly links: Links;
}

export function tokenCountRoutes(
  router: Router<RequestState>,
  { bodies, links }: CountingParts,
): void {
  const { path, endpoint } = TRANSLATED_APIS.messages;
  router.post(`/v1${path}/count_tokens`, async (ctx) => {
    const { model, tokens } = await bodies.countPrompt(ctx);
    const caller = callerOf(ctx);
    const candidates = links.candidates(ENDPOINTS[endpoint].serviceType, model);
    if (knownModels(candidates, caller).length === 0) {
      throw modelNotFound({ caller, endpoint, model }, links);
    }
    ctx.body = { input_tokens: tokens, estimated: true };
  });
}
