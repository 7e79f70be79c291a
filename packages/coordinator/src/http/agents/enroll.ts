/** `POST /agent/v1/enroll`: a join token becomes a registered provider and its agent token. */
import { readBearer } from '@inference-gateway/shared/bearer';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { newSecret } from '@inference-gateway/shared/ids';
import { ApiError } from '@inference-gateway/shared/errors';
import { ENROLL_PATH } from '@inference-gateway/shared/protocol/version';
import type Router from '@koa/router';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../../core/access/name.js';
import type { EnrollRefusal, Provider, Store } from '../../store/port.js';
import type { RequestState } from '../edge/context.js';
import type { JsonBodies } from '../bodies/body.js';

const enrollment = z.object({
  name: z.string().trim().regex(NAME_PATTERN).nullish(),
});

export interface EnrollParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'by'>;
  /** Whether an administrator must approve new providers. */
  readonly providerApproval: boolean;
  /** A provider has a new token: a link with the old one is closed. */
  readonly onReplaced: (providerId: string) => void;
}

export function enrollRoutes(router: Router<RequestState>, parts: EnrollParts): void {
  const { store, bodies, providerApproval, onReplaced } = parts;
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
    const hashes = { joinTokenHash: hashSecret(token), tokenHash: hashSecret(agentToken) };
    const now = ctx.state.now();
    const outcome = await store
      .by('agent')
      .enroll({ ...hashes, name, approved: !providerApproval }, now);
    if (outcome.kind === 'refused') throw refused(REASONS[outcome.reason]);
    if (outcome.kind === 'taken') {
      const message = `You have a provider '${name ?? ''}' already. Choose another --name.`;
      throw new ApiError('name_taken', message, { param: 'name' });
    }
    // A provider that enrols for the first time has no link to close.
    onReplaced(outcome.value.id);
    // It contains the token, which is shown only this once.
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentEnrolment(outcome.value, agentToken);
  });
}

/** The answer to every kind of enrolment. */
export function presentEnrolment({ id, name, approvedAt }: Provider, token: string) {
  return { provider_id: id, name, token, approved: approvedAt !== null };
}

const REASONS: Readonly<Record<EnrollRefusal['reason'], string>> = {
  unknown: 'it is unknown',
  used: 'it has been used',
  expired: 'it has expired',
  revoked: 'it has been revoked',
  'of a disabled member': "its owner's account is disabled",
};

function refused(reason: string): ApiError {
  const message = `The join token is not accepted: ${reason}. Ask the admin for a new one.`;
  return new ApiError('invalid_api_key', message);
}
