/** The models that the member may use now, from the three answers that tell of them. */
import { useMemo } from 'preact/hooks';
import type { ModelResource } from '../../../../src/http/inference/models.js';
import { useMy } from '../../api/commands.js';
import type { Fault } from '../../api/fault.js';
import { QUEUE } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { CONSOLE } from '../../api/request.js';
import { useSnapshot } from '../../api/snapshot.js';
import { modelRows } from './model-rows.js';
import type { ModelRow } from './model-rows.js';

export interface ModelRows {
  /** Undefined until all three have answered. */
  readonly data: readonly ModelRow[] | undefined;
  readonly fault: Fault | null;
  readonly staleSince: number | null;
  readonly refresh: () => Promise<void>;
}

const EVERY_MS = 5_000;
const OPTIONS = { everyMs: EVERY_MS, topics: ['providers'] } as const;

export function useModelRows(): ModelRows {
  const models = useSnapshot<{ readonly data: readonly ModelResource[] }>(
    `${CONSOLE}/models`,
    OPTIONS,
  );
  const offers = useMy('model.list', {}, OPTIONS);
  const queue = useSnapshot<QueueSummary>(QUEUE, { topics: ['queue', 'providers'] });
  const data = useMemo(
    () =>
      models.data && offers.data && queue.data
        ? modelRows(models.data.data, offers.data, queue.data.by_model)
        : undefined,
    [models.data, offers.data, queue.data],
  );
  return {
    data,
    fault: models.fault ?? offers.fault ?? queue.fault,
    staleSince: models.staleSince ?? offers.staleSince ?? queue.staleSince,
    async refresh() {
      await Promise.all([models.refresh(), offers.refresh(), queue.refresh()]);
    },
  };
}
