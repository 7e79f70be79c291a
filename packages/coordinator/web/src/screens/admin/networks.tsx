import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { Short } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { currentSession } from '../../api/session.js';
import { SelectField } from '../../ui/form/field.js';
import { NameField } from '../../ui/form/name-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { useAct, useToastedAct } from '../../ui/form/act.js';
import { Badge } from '../../ui/figures/badge.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { Loaded } from '../../ui/table/loaded.js';
import { FaultText } from '../../ui/table/states.js';
import { LISTS } from './every.js';
import { Listing } from './listing.js';
import type { RowAction } from '../../ui/table/row-menu.js';

type Network = AdminResult<'network.list'>[number];

export function Networks() {
  const [isCreating, setCreating] = useState(false);
  const list = useAdmin('network.list', {}, LISTS);
  const create = (
    <Button tone="primary" icon="plus" onClick={() => setCreating(true)}>
      Create network
    </Button>
  );
  return (
    <>
      <Listing
        caption="Networks"
        what="network"
        list={list}
        columns={COLUMNS}
        nameOf={({ name }) => name}
        wordsOf={({ name, owner }) => [name, owner]}
        actionsOf={(network) => actionsOf(network, list.refresh)}
        action={create}
        emptyText="In a network, members share their GPUs with each other."
      />
      {isCreating && <NewNetwork onDone={list.refresh} onClose={() => setCreating(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<Network>[] = [
  {
    head: 'Name',
    isName: true,
    kind: 'grow',
    below: ({ owner, shares }) => `${owner}’s, ${plural(shares, 'share')}`,
    cell: ({ name }) => name,
  },
  { head: 'Owner', ifWide: true, cell: ({ owner }) => <Short text={owner} /> },
  { head: 'Members', kind: 'number', cell: ({ members }) => formatCount(members) },
  {
    head: 'Shares',
    kind: 'number',
    ifWide: true,
    cell: ({ shares }) => formatCount(shares),
  },
  { head: 'Created', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

function actionsOf(network: Network, refresh: () => Promise<void>): readonly RowAction[] {
  const { id, name, shares } = network;
  return [
    {
      kind: 'form',
      text: 'Members',
      form: (close) => <NetworkMembers network={id} onChange={refresh} onClose={close} />,
    },
    {
      kind: 'form',
      text: 'Rename',
      form: (close) => <NameNetwork {...network} onDone={refresh} onClose={close} />,
    },
    {
      kind: 'ask',
      text: 'Delete',
      title: `Delete the network ${name}?`,
      explain:
        `Its members stay members of the gateway. Everything shared with it is no longer shared: ` +
        `${plural(shares, 'share')}. This cannot be taken back.`,
      async run() {
        await admin('network.delete', { network: id });
        return `${name} is deleted.`;
      },
    },
  ];
}

interface DialogProps {
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function NewNetwork({ onDone, onClose }: DialogProps) {
  const [name, setName] = useState('');
  const [owner, setOwner] = useState(currentSession().member.id);
  const users = useAdmin('user.list', {}, LISTS).data ?? [];
  const create = async (): Promise<void> => {
    await admin('network.create', { name: name.trim(), owner });
    toast(`${name.trim()} is created. Its owner is its first member.`);
    await onDone();
  };
  return (
    <FormDialog title="Create a network" verb="Create" action={create} onClose={onClose}>
      <NameField value={name} onValue={setName} />
      <SelectField
        label="Owner"
        hint="May invite others to it, and remove them."
        value={owner}
        options={users.map((one) => ({ value: one.id, label: one.name }))}
        onValue={setOwner}
      />
    </FormDialog>
  );
}

interface NameNetworkProps extends DialogProps {
  readonly id: string;
  readonly name: string;
}

function NameNetwork({ id, name: before, onDone, onClose }: NameNetworkProps) {
  const [name, setName] = useState(before);
  const rename = async (): Promise<void> => {
    await admin('network.rename', { network: id, name: name.trim() });
    toast(`${before} is called ${name.trim()} now.`);
    await onDone();
  };
  return (
    <FormDialog title={`Rename ${before}`} verb="Rename" action={rename} onClose={onClose}>
      <NameField value={name} onValue={setName} />
    </FormDialog>
  );
}

interface NetworkMembersProps {
  /** The network's id. */
  readonly network: string;
  readonly onChange: () => Promise<void>;
  readonly onClose: () => void;
}

type Shown = AdminResult<'network.show'>;

/** The members of a network; stays open while the admin adds several. */
function NetworkMembers({ network, onChange, onClose }: NetworkMembersProps) {
  const shown = useAdmin('network.show', { network }, LISTS);
  const { data } = shown;
  const refresh = async (): Promise<void> => {
    await Promise.all([shown.refresh(), onChange()]);
  };
  const remove = useToastedAct(async (member: string) => {
    await admin('network.remove', { network, member });
    await refresh();
  });
  return (
    <Dialog title={data === undefined ? 'Members' : `Members of ${data.name}`} onClose={onClose}>
      <Loaded of={shown} rows={3}>
        {(known) => (
          <div class="stack">
            <People shown={known} isBusy={remove.isBusy} onRemove={(id) => void remove.run(id)} />
            <AddMember shown={known} onAdded={refresh} />
          </div>
        )}
      </Loaded>
      <div class="dialog-foot">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

interface PeopleProps {
  readonly shown: Shown;
  readonly isBusy: boolean;
  readonly onRemove: (id: string) => void;
}

function People({ shown: { members, owner }, isBusy, onRemove }: PeopleProps) {
  return (
    <ul class="admin-people">
      {members.map(({ id, name, joined_at: at }) => (
        <li key={id}>
          <span>{name}</span>
          <span class="soft small">
            since <Ago at={at} />
          </span>
          {name === owner ? (
            <Badge>owner</Badge>
          ) : (
            <Button
              small
              busy={isBusy}
              aria-label={`Remove ${name} from the network`}
              onClick={() => onRemove(id)}
            >
              Remove
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

function AddMember({ shown, onAdded }: { shown: Shown; onAdded: () => Promise<void> }) {
  const [chosen, setChosen] = useState('');
  const users = useAdmin('user.list', {}, LISTS).data ?? [];
  const inside = new Set(shown.members.map(({ id }) => id));
  const outside = users.filter(({ id }) => !inside.has(id));
  const act = useAct(async () => {
    await admin('network.add', { network: shown.id, member: chosen });
    setChosen('');
    await onAdded();
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  if (outside.length === 0) return <p class="soft small">Every member is in it already.</p>;
  return (
    <form class="admin-add" onSubmit={submit}>
      <SelectField
        label="Add a member"
        value={chosen}
        options={[
          { value: '', label: 'Choose…' },
          ...outside.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onValue={setChosen}
      />
      <Button type="submit" busy={act.isBusy} disabled={chosen === ''}>
        Add
      </Button>
      <FaultText fault={act.fault} />
    </form>
  );
}
