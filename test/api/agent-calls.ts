/** Requests that an agent sends with its own token, outside its link. */
import type { TestGateway } from '../support/gateway.js';
import type { Sent } from './account-calls.js';

export const SELF = '/agent/v1/self';
export const SHARES = '/agent/v1/shares';

/**
 * Reads the agent's own state, shares with a network of its owner's, and ends the share twice;
 * returns the statuses.
 */
export async function shareAsAgent(
  gateway: TestGateway,
  call: (sent: Sent) => Promise<Response>,
): Promise<readonly number[]> {
  const authorization = `Bearer ${await gateway.anna.enroll('garden-pc')}`;
  await gateway.admin('network.create', { name: 'garden', owner: 'Anna' });
  const asked = await call({ path: SELF, headers: { authorization } });
  const shared = await call({
    path: SHARES,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ network: 'garden' }),
  });
  const { id } = (await shared.clone().json()) as { id: string };
  const end = () => call({ path: `${SHARES}/${id}`, method: 'DELETE', headers: { authorization } });
  return [asked, shared, await end(), await end()].map(({ status }) => status);
}
