/** The models on one of the member's machines, as its agent tells its owner alone. */
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';

type Told = MyResult<'provider.models'>;

export type OwnModels = Extract<Told, { state: 'on' }>;

export type ModelServer = OwnModels['servers'][number];

export type OwnModel = ModelServer['models'][number];

export type Activity = OwnModels['activities'][number];

export function useOwnModels(provider: string) {
  return useMy('provider.models', { provider }, { topics: ['pulls'] });
}

/** Its newest action on this model that has not ended. */
export function activityOn(
  { activities }: OwnModels,
  { services }: ModelServer,
  model: string,
): Activity | undefined {
  return activities.findLast(
    (one) => one.state === 'running' && one.model === model && services.includes(one.service_id),
  );
}
