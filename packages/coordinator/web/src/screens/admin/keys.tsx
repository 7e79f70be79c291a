import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { capitalized } from '../../ui/text/format.js';
import { KEY_STATES, KeyState, KeyTimes } from '../../ui/table/key-state.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { LISTS } from './every.js';
import { Listing } from './listing.js';
import { OwnedName } from './owned-name.js';
import type { RowAction } from '../../ui/table/row-menu.js';

type Key = AdminResult<'key.list'>[number];

export function Keys() {
  return (
    <Listing
      caption="Keys"
      what="key"
      list={useAdmin('key.list', { user: null }, LISTS)}
      columns={COLUMNS}
      nameOf={({ name, owner }) => `${name} of ${owner}`}
      wordsOf={({ name, owner, prefix }) => [name, owner, prefix]}
      facets={FACETS}
      actionsOf={actionsOf}
      emptyText="Members create theirs under Settings."
    />
  );
}

const COLUMNS: readonly Column<Key>[] = [
  {
    head: 'Name',
    isName: true,
    kind: 'grow',
    below: (key) => <KeyTimes {...key} />,
    cell: ({ name, owner }) => <OwnedName name={name} note={owner} />,
  },
  {
    head: 'Key',
    ifWide: true,
    ifRoom: true,
    cell: ({ prefix }) => <span class="mono soft">{prefix}…</span>,
  },
  { head: 'State', cell: ({ state }) => <KeyState state={state} /> },
  { head: 'Last used', ifWide: true, cell: ({ last_used_at: at }) => <Ago at={at} /> },
  { head: 'Expires', ifWide: true, cell: ({ expires_at: at }) => <Ago at={at} /> },
  { head: 'Created', ifWide: true, ifRoom: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

const FACETS = [
  {
    name: 'state',
    label: 'State',
    options: KEY_STATES.map((value) => ({ value, label: capitalized(value) })),
    fits: ({ state }: Key, value: string) => state === value,
  },
];

/** A revoked key has no actions. */
function actionsOf({ id, name, owner, state, disabled_at: disabledAt }: Key): readonly RowAction[] {
  if (state === 'revoked') return [];
  const isDisabled = disabledAt !== null;
  return [
    {
      kind: 'now',
      text: isDisabled ? 'Enable' : 'Disable',
      async run() {
        await admin(isDisabled ? 'key.enable' : 'key.disable', { key: id });
        return isDisabled ? `${name} works again.` : `${name} is disabled.`;
      },
    },
    {
      kind: 'ask',
      text: 'Revoke',
      title: `Revoke ${name} of ${owner}?`,
      explain:
        'Programs that use this key are refused from now on. This cannot be taken back; ' +
        'disable the key instead if it may be needed again.',
      async run() {
        await admin('key.revoke', { key: id });
        return `${name} is revoked.`;
      },
    },
  ];
}
