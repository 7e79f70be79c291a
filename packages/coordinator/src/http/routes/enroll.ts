/** `POST /agent/v1/enroll`: a join token becomes a registered provider and its agent token. */
import { readBearer } from '@inference-gateway/shared/bearer';
import { hashSecret } from '@inference-gateway/shared/program/hash-secret';
import { newSecret } from '@inference-gateway/shared/ids';
import { ApiError } from '@inference-gateway/shared/errors';
import { ENROLL_PATH } from '@inference-gateway/shared/protocol/version';
import type Router from '@koa/router';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../../core/name.js';
import type { Store } from '../../store/port.js';
import { JsonBodies } from '../body.js';
import type { RequestState } from '../context.js';

/** Apart from the callers' memory: a join token is known to be good only once the body is read. */
const BODY_LIMITS = { maxJsonBytes: 64 * 1024, maxBodyMemoryBytes: 4 * 1024 * 1024 };

const enrollment = z.object({
  name: z.string().trim().regex(NAME_PATTERN).nullish(),
});

export function enrollRoutes(router: Router<RequestState>, store: Pick<Store, 'enroll'>): void {
  const bodies = new JsonBodies(BODY_LIMITS);
  router.post(ENROLL_PATH, async (ctx) => {
    const token = readBearer(ctx.get('authorization'));
    if (token?.startsWith('gwj_') !== true) throw refused('no join token was sent');
    const body = enrollment.safeParse(await bodies.read(ctx));
    if (!body.success) {
      const message = `The provider's name is not allowed: ${NAME_RULE}.`;
      throw new ApiError('invalid_value', message, { param: 'name' });
    }
    const agentToken = newSecret('gwa');
    const name = body.data.name ?? null;
    const outcome = await store.enroll(
      { joinTokenHash: hashSecret(token), tokenHash: hashSecret(agentToken), name },
      Date.now(),
    );
    if (outcome.kind === 'refused') throw refused(`it is ${outcome.reason}`);
    if (outcome.kind === 'taken') {
      const message = `You have a provider '${name ?? ''}' already. Choose another --name.`;
      throw new ApiError('name_taken', message, { param: 'name' });
    }
    const { id, name: given } = outcome.value;
    ctx.body = { provider_id: id, name: given, token: agentToken };
  });
}

function refused(reason: string): ApiError {
  const message = `The join token is not accepted: ${reason}. Ask the admin for a new one.`;
  return new ApiError('invalid_api_key', message);
}
