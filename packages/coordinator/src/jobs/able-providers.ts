import { capableCandidates } from '../core/routing/match.js';
import type { Choice } from '../core/routing/match.js';
import type { Lane } from '../core/jobs/lane.js';
import type { Sessions } from '../core/routing/links.js';

type Sought = Pick<Lane, 'serviceType' | 'model' | 'memberId' | 'scope' | 'needs'>;

/** Those that could run such a job, online or not, also where it is not in their last list. */
export function ableProviders(
  sessions: Pick<Sessions, 'candidates' | 'formerCandidates'>,
  { serviceType, model, memberId, scope, needs }: Sought,
): readonly Choice[] {
  const candidates = [
    ...sessions.candidates(serviceType, model),
    ...sessions.formerCandidates(serviceType, model),
  ];
  return capableCandidates(candidates, { caller: { memberId, scope }, needs });
}
