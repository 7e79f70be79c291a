import { useEffect, useState, useMemo } from 'preact/hooks';
import type { ModelResource } from '../../../../src/http/inference/models.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { TextField, SelectField } from '../../ui/form/field.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { Page } from '../../ui/page.js';
import { useClearQuery, useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { useMy } from '../../api/commands.js';
import type { Fault } from '../../api/fault.js';
import { QUEUE } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { CONSOLE } from '../../api/request.js';
import { useSnapshot } from '../../api/snapshot.js';
import type { ModelRow } from './model-rows.js';
import { modelRows } from './model-rows.js';
import { ModelTable } from './model-table.js';
import { MostWanted } from './most-wanted.js';
import './models.css';

/** All models that the member may use now, on any provider. */
export function Models() {
  const models = useModelRows();
  return (
    <Page title="Models" staleSince={models.staleSince}>
      <Loaded of={models} rows={8}>
        {(rows) => (rows.length === 0 ? <NoModels /> : <Found rows={rows} />)}
      </Loaded>
      <MostWanted />
    </Page>
  );
}

function NoModels() {
  return (
    <Empty icon="boxes" title="No model is online for you." text={NOBODY}>
      <div class="row">
        <LinkButton href="/providers" tone="primary" icon="cpu">
          Add a GPU
        </LinkButton>
        <LinkButton href="/network" icon="users">
          Network
        </LinkButton>
      </div>
    </Empty>
  );
}

const NOBODY =
  'A model is listed while a GPU that serves it is online: one of yours, or one that somebody ' +
  'shares with you.';

/** Rows shown at first; more are shown on request. */
const ROWS = 100;

function Found({ rows }: { readonly rows: readonly ModelRow[] }) {
  const [search, setSearch] = useQuery('search');
  const [type, setType] = useQuery('type');
  const clear = useClearQuery();
  const [limit, setLimit] = useState(ROWS);
  useEffect(() => setLimit(ROWS), [search, type]);
  const wanted = search.trim().toLowerCase();
  const fitting = rows.filter(
    (row) => (type === '' || row.type === type) && row.id.toLowerCase().includes(wanted),
  );
  const types = [...new Set(rows.map((row) => row.type))].toSorted();
  // A link may contain a type that is no longer served.
  const named = type === '' || types.some((one) => one === type) ? types : [...types, type];
  const options = [
    { value: '', label: 'Any type' },
    ...named.map((value) => ({ value, label: typeLabel(value) })),
  ];
  return (
    <>
      <search class="model-filter">
        <TextField
          label="Search"
          type="search"
          placeholder="Part of its id"
          value={search}
          onValue={setSearch}
        />
        <SelectField label="Type" value={type} options={options} onValue={setType} />
      </search>
      {fitting.length === 0 ? (
        <NoMatch what="models" onClear={clear} />
      ) : (
        <ModelTable rows={fitting.slice(0, limit)} />
      )}
      {fitting.length > 0 && (
        <p class="list-foot soft small">
          {fitting.length > limit && `${formatCount(limit)} of `}
          {plural(fitting.length, 'model')}
          {fitting.length > limit && (
            <Button small onClick={() => setLimit(limit + ROWS)}>
              Show more
            </Button>
          )}
        </p>
      )}
    </>
  );
}

// The models that the member may use now, from three answers of the coordinator.

interface ModelRows {
  /** Undefined until all three have answered. */
  readonly data: readonly ModelRow[] | undefined;
  readonly fault: Fault | null;
  readonly staleSince: number | null;
  readonly refresh: () => Promise<void>;
}

const EVERY_MS = 5_000;

const OPTIONS = { everyMs: EVERY_MS, topics: ['providers'] } as const;

function useModelRows(): ModelRows {
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
