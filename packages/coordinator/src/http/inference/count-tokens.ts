/** `POST /messages/count_tokens`: the tokens of a prompt before it is sent. */
import { TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type Router from '@koa/router';
import { knownModels } from '../../core/routing/match.js';
import type { Caller } from '../../core/access/caller.js';
import type { Links } from '../../core/routing/links.js';
import { resolve } from '../../core/routing/resolve.js';
import { NOTHING } from '../../core/usage/quota.js';
import { accountsOf } from '../../core/usage/quotas.js';
import type { Reservations } from '../../core/usage/quotas.js';
import { countTokens } from '../../relay/token-counting.js';
import type { TokenCount } from '../../relay/token-counting.js';
import { modelNotFound } from '../../run/absence.js';
import type { JsonBodies } from '../bodies/body.js';
import type { CountedPrompt } from '../bodies/judge-body.js';
import { requireEndpoint } from '../edge/authenticate.js';
import { callerOf, departureOf } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';

interface CountingParts {
  readonly bodies: JsonBodies;
  readonly links: Links;
  readonly quotas: Reservations;
  readonly isCurrent: () => boolean;
}

const { counting: ENDPOINT } = TRANSLATED_APIS.messages;
const { path: PATH, serviceType: SERVICE_TYPE } = ENDPOINTS[ENDPOINT];

export function tokenCountRoutes(router: Router<RequestState>, parts: CountingParts): void {
  const { bodies, links } = parts;
  router.post(`/v1${PATH}`, async (ctx) => {
    requireEndpoint(callerOf(ctx), `/v1${PATH}`);
    const prompt = await bodies.countPrompt(ctx);
    const { model } = prompt;
    ctx.state.inference = { model };
    const caller = callerOf(ctx);
    const named = { caller, serviceType: SERVICE_TYPE, model };
    const { models, caller: admitted } = resolve(links, named);
    const isKnown = (id: string): boolean =>
      knownModels(links.candidates(SERVICE_TYPE, id), admitted).length > 0;
    const known = models.find(isKnown);
    if (known === undefined) throw modelNotFound({ caller, endpoint: ENDPOINT, model }, links);
    const counted = await countOf(ctx, { prompt, model: known, caller: admitted }, parts);
    if (counted === null) {
      ctx.body = { input_tokens: prompt.tokens, estimated: true };
      return;
    }
    ctx.set('x-provider', encodeURIComponent(counted.providerName));
    ctx.body = { input_tokens: counted.tokens };
  });
}

interface Counted {
  readonly prompt: CountedPrompt;
  /** Behind an alias, the model that would serve. */
  readonly model: string;
  readonly caller: Caller;
}

/** By a provider's model server; null if none counts it. */
async function countOf(
  ctx: Context,
  { prompt: { tokens, chat }, model, caller }: Counted,
  { links, quotas, isCurrent }: CountingParts,
): Promise<TokenCount | null> {
  if (chat === null) return null;
  // A caller who has used up its quota asks nothing of anybody's machine.
  const accounts = accountsOf(caller);
  await quotas.load(accounts);
  if (quotas.refusalOf(accounts, { ...NOTHING, requests: 1, tokens }) !== null) return null;
  if (!isCurrent()) return null;
  const departure = departureOf(ctx);
  const work = {
    requestId: ctx.state.requestId,
    caller,
    endpoint: ENDPOINT,
    model,
    body: chat,
    uploads: [],
    slots: 1,
    asked: null,
    receivedAt: performance.now(),
    signal: departure.signal,
  };
  return countTokens(work, links);
}
