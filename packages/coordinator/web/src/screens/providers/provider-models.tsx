import { my } from '../../api/commands.js';
import { useState } from 'preact/hooks';
import { Button } from '../../ui/button/button.js';
import { CopyText } from '../../ui/button/copy.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Badge } from '../../ui/figures/badge.js';
import { useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import { SaveRows } from '../../ui/table/save-rows.js';
import { RowMenu } from '../../ui/table/row-menu.js';
import type { RowAction } from '../../ui/table/row-menu.js';
import { Empty } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { formatBytes, plural } from '../../ui/text/format.js';
import { Ago } from '../../ui/text/time.js';
import { activityOn, useOwnModels } from './own-models.js';
import type { Activity, ModelServer, OwnModel, OwnModels } from './own-models.js';
import type { OwnProvider } from './own-providers.js';
import { PullDialog } from './pull-dialog.js';
import { PullProgress } from './pull-progress.js';

/** What is on the machine's disk, and what its owner may do with it from here. */
export function ProviderModels({ provider }: { readonly provider: OwnProvider }) {
  const models = useOwnModels(provider.id);
  const { data } = models;
  const [isPulling, setPulling] = useState(false);
  // A link may name the model.
  const [named, setNamed] = useQuery('pull');
  const mayPull = data?.state === 'on' && data.servers.some(({ can }) => can.includes('pull'));
  return (
    <section class="section after-table">
      <div class="row spread">
        <h2>Models</h2>
        {mayPull && (
          <Button icon="download" onClick={() => setPulling(true)}>
            Pull a model
          </Button>
        )}
      </div>
      <Loaded of={models} rows={3}>
        {(told) =>
          told.state === 'on' ? (
            <Managed provider={provider} models={told} onChange={models.refresh} />
          ) : (
            <NotManaged state={told.state} />
          )
        }
      </Loaded>
      {mayPull && (isPulling || named !== '') && (
        <PullDialog
          provider={provider}
          models={data}
          onChange={models.refresh}
          named={named}
          onClose={() => {
            setPulling(false);
            if (named !== '') setNamed('');
          }}
        />
      )}
    </section>
  );
}

function NotManaged({ state }: { readonly state: 'off' | 'older' | 'offline' }) {
  if (state !== 'off') return <p class="soft">{WHY_NOT[state]}</p>;
  return (
    <p class="soft models-off">
      You can load, unload, pull and delete models from here once you allow it: write{' '}
      <CopyText text={'"manage_models": true'} label="Copy the setting" /> into the agent’s
      configuration on the machine, and start the agent again.
    </p>
  );
}

const WHY_NOT = {
  older:
    'The agent on the machine is too old to manage models. Update it with gateway-agent upgrade.',
  offline: 'The machine is offline. Its models are listed once its agent is connected.',
};

interface ManagedProps {
  readonly provider: OwnProvider;
  readonly models: OwnModels;
  readonly onChange: () => Promise<void>;
}

function Managed({ provider, models, onChange }: ManagedProps) {
  const { servers, activities, shortened } = models;
  const rows = servers.flatMap((server) =>
    server.models.map((model): Row => {
      return { server, model, activity: activityOn(models, server, model.name) };
    }),
  );
  const cancel = useToastedAct(async ({ id }: Activity) => {
    await my('pull.cancel', { provider: provider.id, action: id });
    await onChange();
  });
  const pulls = activities.filter(({ action, state }) => action === 'pull' && state === 'running');
  const failed = activities.findLast(({ state }) => state === 'failed');
  return (
    <>
      <p class="soft small models-room">{roomOf(models)}</p>
      {pulls.map((pull) => (
        <div key={pull.id} class="card pull-card">
          <PullProgress pull={pull} freeBytes={freeBytesFor(models, pull)} />
          {pull.can_cancel && (
            <Button busy={cancel.isBusy} onClick={() => void cancel.run(pull)}>
              Cancel the pull
            </Button>
          )}
        </div>
      ))}
      {failed !== undefined && <Failed activity={failed} />}
      {servers.map(({ service_id: id, fault }) =>
        fault === null ? null : (
          <p key={id} class="warn">
            <span class="mono">{id}</span>: {fault}
          </p>
        ),
      )}
      {rows.length === 0 ? (
        <Empty icon="boxes" title="No model is listed." text={NOTHING} />
      ) : (
        <>
          <Table
            caption={`Models on ${provider.name}`}
            columns={columnsOf(provider, servers.length > 1, onChange)}
            rows={rows}
            rowKey={({ server, model }) => `${server.service_id} ${model.name}`}
          />
          <SaveRows
            name="models-on-machine"
            rows={rows.map(({ server, model }) => ({ service_id: server.service_id, ...model }))}
            rowKey={({ name }) => name}
          />
        </>
      )}
      {shortened && <p class="soft small">There are more models than are shown.</p>}
    </>
  );
}

const NOTHING = 'None of its model servers has one, or none of them can tell.';

function Failed({ activity }: { readonly activity: Activity }) {
  const { action, model, message, ended_at: at } = activity;
  return (
    <p class="warn" role="status">
      {NOUNS[action]} <span class="mono">{model}</span> failed <Ago at={at} />: {message}
    </p>
  );
}

const NOUNS = {
  load: 'Loading',
  unload: 'Unloading',
  pull: 'Pulling',
  delete: 'Deleting',
} as const;

function freeBytesFor({ servers }: OwnModels, { service_id: id }: Activity): number | null {
  return servers.find(({ services }) => services.includes(id))?.free_bytes ?? null;
}

/** The limits that the owner has set on the machine, and what is taken of them. */
function roomOf({ used_bytes: used, max_bytes: most, servers }: OwnModels): string {
  const free = servers.flatMap(({ free_bytes: bytes }) => bytes ?? []);
  const disk = free.length === 0 ? '' : ` ${formatBytes(Math.min(...free))} are free on the disk.`;
  return `Pulled from here: ${formatBytes(used)} of at most ${formatBytes(most)}.${disk}`;
}

interface Row {
  readonly server: ModelServer;
  readonly model: OwnModel;
  readonly activity: Activity | undefined;
}

function columnsOf(
  provider: OwnProvider,
  isSeveral: boolean,
  onChange: () => Promise<void>,
): readonly Column<Row>[] {
  return [
    {
      head: 'Model',
      isName: true,
      kind: 'grow',
      below: (row) => (
        <>
          <Size row={row} />, <InUse row={row} />
          {isSeveral && `, ${row.server.service_id}`}
        </>
      ),
      cell: ({ model }) => (
        <span class="provider-state own-model">
          <span class="mono">{model.name}</span>
          {model.pulled_here && <Badge title="It was pulled from here">pulled here</Badge>}
        </span>
      ),
    },
    ...(isSeveral ? [SERVER] : []),
    { head: 'State', cell: (row) => <State row={row} /> },
    { head: 'Size', kind: 'number', ifWide: true, cell: (row) => <Size row={row} /> },
    { head: 'In use', kind: 'number', ifWide: true, cell: (row) => <InUse row={row} /> },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (row) => (
        <RowMenu name={row.model.name} actions={actionsOf(provider, row)} onDone={onChange} />
      ),
    },
  ];
}

const SERVER: Column<Row> = {
  head: 'Service',
  ifWide: true,
  cell: ({ server }) => <span class="mono small">{server.service_id}</span>,
};

function State({ row: { model, activity } }: { readonly row: Row }) {
  if (activity !== undefined) {
    return (
      <Badge dot mood="accent">
        {`${NOUNS[activity.action].toLowerCase()}…`}
      </Badge>
    );
  }
  if (model.loaded === null) return <span class="soft">–</span>;
  if (!model.loaded) return <span class="soft">on the disk</span>;
  const { memory_bytes: memory } = model;
  return (
    <Badge dot mood="good" {...(memory !== null && { title: `${formatBytes(memory)} of memory` })}>
      in memory
    </Badge>
  );
}

function Size({ row: { model } }: { readonly row: Row }) {
  return model.bytes === null ? <span class="soft">–</span> : <>{formatBytes(model.bytes)}</>;
}

function InUse({ row: { model } }: { readonly row: Row }) {
  if (model.running === 0) return <span class="soft">not in use</span>;
  return <>{plural(model.running, 'request')}</>;
}

function actionsOf(provider: OwnProvider, { server, model, activity }: Row): readonly RowAction[] {
  const { name, can, bytes } = model;
  if (activity !== undefined) return [];
  const args = { provider: provider.id, service: server.service_id, model: name };
  const actions: RowAction[] = [];
  if (can.includes('load')) {
    const run = async () => saidOf(await my('provider.model-load', args));
    actions.push({ kind: 'now', text: 'Load', run });
  }
  if (can.includes('unload')) {
    const run = async () => saidOf(await my('provider.model-unload', args));
    actions.push({ kind: 'now', text: 'Unload', run });
  }
  if (can.includes('delete')) {
    const size = bytes === null ? '' : ` of ${formatBytes(bytes)}`;
    actions.push({
      kind: 'ask',
      text: 'Delete',
      title: `Delete ${name}?`,
      explain:
        `Its files${size} are deleted from ${provider.name}, and requests for it fail, also ` +
        'those of members you share it with. To have it again, it must be pulled again.',
      run: async () => saidOf(await my('provider.model-delete', args)),
    });
  }
  return actions;
}

/** What came of an action, or that it goes on. */
function saidOf({ action, model, state, message }: Activity): string {
  if (state === 'failed') throw new Error(message ?? 'It failed.');
  return state === 'running' ? `${NOUNS[action]} ${model}…` : `${model} ${DONE[action]}.`;
}

const DONE = {
  load: 'is in memory',
  unload: 'is not in memory any more',
  pull: 'is there',
  delete: 'is deleted',
} as const;
