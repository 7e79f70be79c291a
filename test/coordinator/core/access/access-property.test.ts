/** For all facts, the rule agrees with a plain reading of them. */
import { grantOf } from '@inference-gateway/coordinator/core/access/access';
import type { Asking, Subject } from '@inference-gateway/coordinator/core/access/access';
import { resolveSharing, shareState } from '@inference-gateway/coordinator/core/access/sharing';
import type { SharingFacts } from '@inference-gateway/coordinator/core/access/sharing';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { providerFact } from './sharing-facts.js';

const member = fc.constantFrom('anna', 'ben', 'carl');
const network = fc.constantFrom('friends', 'others');
const provider = fc.constantFrom('p', 'q');
const service = fc.constantFrom('llm-1', 'llm-2');
const model = fc.constantFrom('m', 'n');
const cap = fc.option(fc.integer({ min: 1, max: 3 }));
const caps = fc.record({
  slots: cap,
  maxTokens: cap,
  hours: fc.option(fc.constant({ from: 0, until: 60, timeZone: 'UTC' })),
});
const bound = fc.oneof(
  fc.record({ serviceId: fc.constant(null), model: fc.constant(null) }),
  fc.record({ serviceId: service, model: fc.constant(null) }),
  fc.record({ serviceId: fc.constant(null), model }),
);
const audience = fc.oneof(
  fc.record({ networkId: network, memberId: fc.constant(null) }),
  fc.record({ networkId: fc.constant(null), memberId: member }),
);

const facts: fc.Arbitrary<SharingFacts> = fc.record({
  providers: fc
    .record({ p: standing(), q: standing() })
    .map(({ p, q }) => [providerFact({ id: 'p', ...p }), providerFact({ id: 'q', ...q })]),
  disabledMembers: fc.oneof(fc.constant([]), fc.constant([]), fc.tuple(member)),
  memberships: fc.array(fc.record({ networkId: network, memberId: member }), {
    minLength: 2,
    maxLength: 6,
  }),
  shares: fc.array(fc.tuple(provider, bound, audience, caps), { maxLength: 3 }).map((some) =>
    some.map(([providerId, what, whom, limits], index) => ({
      id: `share ${index}`,
      providerId,
      ...what,
      ...whom,
      caps: limits,
    })),
  ),
  blocks: fc.oneof(fc.constant([]), fc.tuple(fc.record({ ownerId: member, memberId: member }))),
  aliases: fc.constant([]),
});

function standing() {
  const approved = fc.integer({ min: 0, max: 4 }).map((one) => one > 0);
  return fc.record({ ownerId: member, approved });
}

const asking: fc.Arbitrary<Asking> = fc.record({
  memberId: member,
  scope: fc.constantFrom('any', 'any', 'any', 'own'),
});
const subject: fc.Arbitrary<Subject> = fc.record({
  serviceId: service,
  foreign: fc.constantFrom(true, true, true, false),
  model,
});

/** The ids of all shares that allow the use; `own` for the member's own provider. */
function plainly(told: SharingFacts, who: Asking, what: Subject & { providerId: string }) {
  const { ownerId, approved } = told.providers.find(({ id }) => id === what.providerId) ?? {};
  if (approved !== true) return [];
  if (told.disabledMembers.some((one) => one === ownerId || one === who.memberId)) return [];
  if (ownerId === who.memberId) return ['own'];
  if (who.scope !== 'any' || !what.foreign) return [];
  if (told.blocks.some((one) => one.ownerId === ownerId && one.memberId === who.memberId)) {
    return [];
  }
  const networks = told.memberships
    .filter(({ memberId }) => memberId === who.memberId)
    .map(({ networkId }) => networkId);
  return told.shares
    .filter((one) => one.providerId === what.providerId)
    .filter((one) => [null, what.serviceId].includes(one.serviceId))
    .filter((one) => [null, what.model].includes(one.model))
    .filter((one) => one.memberId === who.memberId || networks.includes(one.networkId ?? ''))
    .map(({ id }) => id);
}

test('who may use what is what the facts say, read one by one', () => {
  let [own, shared] = [0, 0];
  fc.assert(
    fc.property(facts, asking, provider, subject, fc.nat(86_400_000), (...some) => {
      const [told, who, providerId, what, now] = some;
      const allowed = plainly(told, who, { ...what, providerId });
      const sharing = resolveSharing(told).get(providerId);
      if (sharing === undefined) throw new Error('a provider was left out');
      const ownerId = told.providers.find(({ id }) => id === providerId)?.ownerId ?? '';
      const shares = sharing.shares.map((one) => shareState(one, 1, now));
      const grant = grantOf(who, { ownerId, closed: sharing.closed, shares }, what);
      if (grant === null) expect(allowed).toEqual([]);
      else expect(allowed).toContain(grant.shareId ?? 'own');
      if (grant !== null && grant.shareId === null) own++;
      else if (grant !== null) shared++;
    }),
    { numRuns: 5_000 },
  );
  // If such cases never came up, the property would prove nothing.
  expect(Math.min(own, shared)).toBeGreaterThan(50);
});
