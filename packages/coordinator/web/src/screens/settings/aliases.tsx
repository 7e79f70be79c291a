import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { my, useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { Badge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { RowMenu } from '../../ui/table/row-menu.js';
import type { RowAction } from '../../ui/table/row-menu.js';
import { Empty } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { AliasForm, ChainOf, REMOVED } from '../aliases/alias-form.js';
import type { AliasFields } from '../aliases/alias-form.js';

type Alias = MyResult<'alias.list'>[number];

const ALIAS_OPTIONS = { everyMs: 15_000 };

const save = (fields: AliasFields) => my('alias.set', fields);

/** The member's own aliases, and those of the gateway that lead them to a model. */
export function Aliases() {
  const aliases = useMy('alias.list', {}, ALIAS_OPTIONS);
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button icon="plus" onClick={() => setCreating(true)}>
      Create alias
    </Button>
  );
  return (
    <section class="section stack">
      <div class="card-head">
        <h2>Names that stand for models</h2>
        {aliases.data !== undefined && aliases.data.length > 0 && create}
      </div>
      <p class="soft">
        A program that asks for an alias gets the first of its models that is online. A model of
        that name comes before the alias, and yours before one of the gateway.
      </p>
      <Loaded of={aliases} rows={3}>
        {(all) =>
          all.length === 0 ? (
            <NoAlias>{create}</NoAlias>
          ) : (
            <Table
              caption="Aliases"
              saveAs="aliases"
              columns={columnsOf(aliases.refresh)}
              rows={all}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {isCreating && (
        <AliasForm save={save} onDone={aliases.refresh} onClose={() => setCreating(false)} />
      )}
    </section>
  );
}

function NoAlias({ children }: { readonly children: ComponentChildren }) {
  return (
    <Empty
      title="You have no alias."
      text="With one, a program that insists on its own model names works with yours."
    >
      {children}
    </Empty>
  );
}

function columnsOf(refresh: () => Promise<void>): readonly Column<Alias>[] {
  return [
    {
      head: 'Alias',
      isName: true,
      below: (alias) => (
        <>
          <ChainOf models={alias.models} /> {!alias.own && 'of the gateway'}
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
    {
      head: 'Of',
      ifWide: true,
      cell: ({ own }) => (own ? <Badge mood="accent">yours</Badge> : 'the gateway'),
    },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (alias) => (
        <RowMenu name={alias.name} actions={actionsOf(alias, refresh)} onDone={refresh} />
      ),
    },
  ];
}

function actionsOf(alias: Alias, refresh: () => Promise<void>): readonly RowAction[] {
  const { name, own } = alias;
  if (!own) return [];
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
        await my('alias.remove', { name });
        return `${name} is removed.`;
      },
    },
  ];
}
