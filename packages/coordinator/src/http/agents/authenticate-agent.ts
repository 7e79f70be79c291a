/** Whose agent asks: the token that opens its link opens these few requests, too. */
import { readBearer } from '@inference-gateway/shared/bearer';
import { ApiError } from '@inference-gateway/shared/errors';
import { isSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { Provider, Store } from '../../store/port.js';

export async function authenticateAgent(
  authorization: string,
  store: Pick<Store, 'findProviderByToken'>,
): Promise<Provider> {
  const token = readBearer(authorization);
  if (token === null) {
    const message = "No agent token. Send the header 'Authorization: Bearer gwa_…'.";
    throw new ApiError('missing_api_key', message);
  }
  const provider = isSecret('gwa', token)
    ? await store.findProviderByToken(hashSecret(token))
    : null;
  if (provider === null) {
    const message = 'The agent token is not known here. Enrol the machine again.';
    throw new ApiError('invalid_api_key', message);
  }
  if (!provider.isOwnerDisabled) return provider;
  const message = `The owner of this machine, ${provider.ownerName}, is disabled. Ask the admin.`;
  throw new ApiError('owner_disabled', message);
}
