import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { AliasForm, ChainOf, REMOVED } from '../aliases/alias-form.js';
import type { AliasFields } from '../aliases/alias-form.js';
import { LISTS } from './every.js';
import { Listing } from './listing.js';
import type { RowAction } from '../../ui/table/row-menu.js';

type Alias = AdminResult<'alias.list'>[number];

const GATEWAY = { value: '', label: 'All members' };

/** The gateway's aliases, and those of its members. */
export function Aliases() {
  const [isCreating, setCreating] = useState(false);
  const list = useAdmin('alias.list', { user: null }, LISTS);
  const create = (
    <Button tone="primary" icon="plus" onClick={() => setCreating(true)}>
      Create alias
    </Button>
  );
  return (
    <>
      <Listing
        caption="Aliases"
        what="alias"
        many="aliases"
        list={list}
        columns={COLUMNS}
        nameOf={({ name, owner }) => (owner === null ? name : `${owner}/${name}`)}
        wordsOf={({ name, owner, models }) => [name, owner, ...models]}
        actionsOf={(alias) => actionsOf(alias, list.refresh)}
        action={create}
        emptyText="An alias is a name that stands for models, such as claude-* for one of yours."
      />
      {isCreating && <NewAlias onDone={list.refresh} onClose={() => setCreating(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<Alias>[] = [
  {
    head: 'Alias',
    isName: true,
    below: ({ models, owner }) => (
      <>
        <ChainOf models={models} /> for {ownerText(owner)}
      </>
    ),
    cell: ({ name }) => <span class="mono">{name}</span>,
  },
  {
    head: 'Stands for',
    kind: 'grow',
    ifWide: true,
    cell: ({ models }) => <ChainOf models={models} />,
  },
  { head: 'For', ifWide: true, cell: ({ owner }) => ownerText(owner) },
  { head: 'Changed', ifWide: true, cell: ({ updated_at: at }) => <Ago at={at} /> },
];

function ownerText(owner: string | null): string {
  return owner === null ? 'all members' : `${owner} alone`;
}

function actionsOf(alias: Alias, refresh: () => Promise<void>): readonly RowAction[] {
  const { name, owner: user } = alias;
  const save = (fields: AliasFields) => admin('alias.set', { ...fields, user });
  return [
    {
      kind: 'form',
      text: 'Change',
      form: (close) => <AliasForm alias={alias} save={save} onDone={refresh} onClose={close} />,
    },
    {
      kind: 'ask',
      text: 'Remove',
      title: `Remove the alias ${name}?`,
      explain: REMOVED,
      async run() {
        await admin('alias.remove', { name, user });
        return `${name} is removed.`;
      },
    },
  ];
}

function saveFor(fields: AliasFields, owner: string) {
  return admin('alias.set', { ...fields, user: owner === '' ? null : owner });
}

interface NewAliasProps {
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function NewAlias({ onDone, onClose }: NewAliasProps) {
  const users = useAdmin('user.list', {}, LISTS).data ?? [];
  const owners = [GATEWAY, ...users.map(({ id, name }) => ({ value: id, label: `${name} alone` }))];
  return <AliasForm owners={owners} save={saveFor} onDone={onDone} onClose={onClose} />;
}
