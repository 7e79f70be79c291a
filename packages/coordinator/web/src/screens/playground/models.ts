/** The models that can be tried now, and their free slots. */
import { useEffect } from 'preact/hooks';
import type { ModelResource } from '../../../../src/http/inference/models.js';
import type { Fault } from '../../api/fault.js';
import { QUEUE } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { CONSOLE } from '../../api/request.js';
import { useSnapshot } from '../../api/snapshot.js';
import { useQuery } from '../../ui/form/query.js';
import { plural } from '../../ui/text/format.js';

export type ModelType = ModelResource['service_type'];

export interface TryableModel extends Pick<ModelResource, 'id' | 'owned_by'> {
  readonly inputs: readonly string[];
  readonly features: readonly string[];
  readonly slots: number;
  readonly freeSlots: number;
}

export interface Models {
  /** Undefined until the first answer. */
  readonly list: readonly TryableModel[] | undefined;
  readonly fault: Fault | null;
  readonly staleSince: number | null;
  refresh(): Promise<void>;
}

const MODELS_EVERY_MS = 5_000;

export function useModels(type: ModelType): Models {
  const models = useSnapshot<{ readonly data: readonly ModelResource[] }>(`${CONSOLE}/models`, {
    everyMs: MODELS_EVERY_MS,
    topics: ['providers'],
  });
  const queue = useSnapshot<QueueSummary>(QUEUE, { topics: ['queue'] });
  const list = models.data && tryable(models.data.data, queue.data?.by_model ?? [], type);
  const { fault, staleSince } = models;
  return { list, fault, staleSince, refresh: () => models.refresh() };
}

export function tryable(
  models: readonly ModelResource[],
  slots: readonly Pick<
    QueueSummary['by_model'][number],
    'model' | 'service_type' | 'slots' | 'free_slots'
  >[],
  type: ModelType,
): TryableModel[] {
  const ofType = slots.filter((row) => row.service_type === type);
  const byId = new Map(ofType.map((row) => [row.model, row]));
  return models
    .filter((model) => model.service_type === type)
    .map(({ id, alias_of: [first = id] = [], owned_by, input_modalities, supported_features }) => ({
      id,
      owned_by,
      inputs: input_modalities,
      features: supported_features,
      slots: byId.get(first)?.slots ?? 0,
      freeSlots: byId.get(first)?.free_slots ?? 0,
    }));
}

/** `tiny · 3 of 4 slots free` */
export function describeModel({ id, slots, freeSlots }: TryableModel): string {
  return slots === 0 ? id : `${id} · ${freeSlots} of ${plural(slots, 'slot')} free`;
}

/**
 * If no model is chosen, chooses the first one with a free slot. A later change of the slots does
 * not change the choice.
 */
export function useFirstModel(
  { list }: Models,
  chosen: string,
  choose: (model: string) => void,
): void {
  const first = list?.find(({ freeSlots }) => freeSlots > 0) ?? list?.[0];
  useEffect(() => {
    if (chosen === '' && first !== undefined) choose(first.id);
  }, [chosen, first?.id]);
}

/** Selects the model that a link to the playground names: `/playground/image?model=sdxl`. */
export function useModelFromAddress(choose: (model: string) => void): void {
  const [asked] = useQuery('model');
  useEffect(() => {
    if (asked !== '') choose(asked);
  }, [asked]);
}
