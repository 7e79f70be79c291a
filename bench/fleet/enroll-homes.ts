/**
 * Providers as if each had been enrolled by the coordinator's own commands, which would take
 * minutes for a thousand.
 */
import type { Store } from '@inference-gateway/coordinator/store/port';
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { HomePlan } from './home-plan.js';

const HOUR_MS = 3_600_000;

/** A home, its provider, and the token of its agent. */
export interface EnrolledHome {
  readonly plan: HomePlan;
  readonly providerId: string;
  readonly token: string;
}

/** The coordinator does not run yet: it reads its providers when it starts. */
export function enrollHomes(
  store: Store,
  ownerId: string,
  plans: readonly HomePlan[],
): Promise<EnrolledHome[]> {
  return Promise.all(plans.map((plan) => enrollHome(store, ownerId, plan)));
}

async function enrollHome(store: Store, ownerId: string, plan: HomePlan): Promise<EnrolledHome> {
  const now = Date.now();
  const [join, token] = [newSecret('gwj'), newSecret('gwa')];
  const joinToken = { ownerId, name: null, hash: hashSecret(join), replaces: null };
  await store.createJoinToken({ ...joinToken, expiresAt: now + HOUR_MS }, now);
  const hashes = { joinTokenHash: hashSecret(join), tokenHash: hashSecret(token) };
  const made = await store.enroll({ ...hashes, name: plan.name, approved: true }, now);
  if (made.kind !== 'created') throw new Error(`${plan.name} is not enrolled: ${made.kind}`);
  return { plan, providerId: made.value.id, token };
}
