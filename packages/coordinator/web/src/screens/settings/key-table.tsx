import { useState } from 'preact/hooks';
import { Badge } from '../../ui/figures/badge.js';
import { formatDate } from '../../ui/text/dates.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { KeyState, KeyTimes } from '../../ui/table/key-state.js';
import { Sparkline } from '../../ui/figures/sparkline.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Menu, MenuItem } from '../../ui/button/menu.js';
import { toast } from '../../ui/dialog/toasts.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import { SelectField } from '../../ui/form/field.js';
import { USAGE_DAYS, useKeyUsage, useKeys } from './keys.js';
import type { Key, KeyUsage, WholeKey } from './keys.js';
import { LimitKey, ruleText } from './key-rules.js';
import { ShownKey } from './shown-key.js';

export function KeyTable({ keys }: { readonly keys: readonly Key[] }) {
  const usage = useKeyUsage();
  return (
    <Table
      caption="Your API keys"
      saveAs="api-keys"
      columns={[...COLUMNS.slice(0, 3), usageColumn(usage), ...COLUMNS.slice(3)]}
      rows={keys}
      rowKey={({ id }) => id}
    />
  );
}

const OVERLAPS = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'In 1 hour' },
  { value: '86400', label: 'In 1 day' },
  { value: '604800', label: 'In 7 days' },
] as const;

const COLUMNS: readonly Column<Key>[] = [
  {
    head: 'Name',
    isName: true,
    kind: 'grow',
    below: (key) => <KeyTimes {...key} />,
    cell: (key) => (
      <span class="key-name">
        {key.name}
        {key.scope === 'own' && <Badge title="Reaches only your own GPUs">own GPUs</Badge>}
        <Rules of={key} />
      </span>
    ),
  },
  {
    head: 'Key',
    ifWide: true,
    ifRoom: true,
    cell: ({ prefix }) => <span class="mono soft">{prefix}…</span>,
  },
  {
    head: 'State',
    cell: ({ state, previous_until: until }) => (
      <span class="key-state">
        <KeyState state={state} />
        {until !== null && (
          <span class="soft small" title={`Until ${formatDate(until)}`}>
            old one ends <Ago at={until} />
          </span>
        )}
      </span>
    ),
  },
  { head: 'Last used', ifWide: true, cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
  { head: 'Expires', ifWide: true, cell: ({ expires_at }) => <Ago at={expires_at} /> },
  {
    head: 'Created',
    ifWide: true,
    ifRoom: true,
    cell: ({ created_at }) => <Ago at={created_at} />,
  },
  {
    head: 'Actions',
    unseenHead: true,
    kind: 'end',
    cell: (key) => <KeyMenu subject={key} />,
  },
];

function usageColumn(usage: KeyUsage | undefined): Column<Key> {
  return {
    head: `${USAGE_DAYS} days`,
    ifWide: true,
    ifRoom: true,
    cell: ({ id, name }) => <Usage name={name} days={usage && (usage.get(id) ?? [])} />,
  };
}

function Rules({ of }: { readonly of: Key }) {
  const text = ruleText(of);
  return text === null ? null : <span class="soft small">{text}</span>;
}

/** Its width does not depend on the content. */
function Usage({
  name,
  days,
}: {
  readonly name: string;
  readonly days: readonly number[] | undefined;
}) {
  const sum = days?.reduce((total, count) => total + count, 0) ?? 0;
  const label = `${plural(sum, 'request')} with ${name} in ${USAGE_DAYS} days`;
  return (
    <span class="key-usage">
      {sum > 0 && <Sparkline values={days ?? []} label={label} />}
      {days !== undefined && <span class="soft">{sum === 0 ? 'no calls' : formatCount(sum)}</span>}
    </span>
  );
}

type Open = 'rename' | 'limit' | 'rotate' | 'revoke' | null;

/** The actions on one key; a revoked key has none. */
function KeyMenu({ subject }: { readonly subject: Key }) {
  const { id, name, state } = subject;
  const [open, setOpen] = useState<Open>(null);
  const [whole, setWhole] = useState<WholeKey | null>(null);
  const keys = useKeys();
  const close = (): void => setOpen(null);
  const change = useToastedAct(async (command: 'key.disable' | 'key.enable') => {
    await my(command, { key: id });
    toast(command === 'key.enable' ? `${name} works again.` : `${name} is disabled.`);
    await keys.refresh();
  });
  const rotated = (made: WholeKey): void => {
    close();
    setWhole(made);
    void keys.refresh();
  };
  const revoke = async (): Promise<void> => {
    await my('key.revoke', { key: id });
    toast(`${name} is revoked.`);
    await keys.refresh();
  };
  if (state === 'revoked') return null;
  return (
    <>
      <Menu label={`Actions for ${name}`}>
        <MenuItem onClick={() => setOpen('rename')}>Rename…</MenuItem>
        <MenuItem onClick={() => setOpen('limit')}>Limits…</MenuItem>
        {state === 'active' && <MenuItem onClick={() => setOpen('rotate')}>Rotate…</MenuItem>}
        {state === 'active' && (
          <MenuItem onClick={() => void change.run('key.disable')}>Disable</MenuItem>
        )}
        {state === 'disabled' && (
          <MenuItem onClick={() => void change.run('key.enable')}>Enable</MenuItem>
        )}
        <Button tone="danger" onClick={() => setOpen('revoke')}>
          Revoke…
        </Button>
      </Menu>
      {open === 'rename' && (
        <RenameKey subject={subject} onDone={() => keys.refresh()} onClose={close} />
      )}
      {open === 'limit' && (
        <LimitKey subject={subject} onDone={() => keys.refresh()} onClose={close} />
      )}
      {open === 'rotate' && <RotateKey subject={subject} onRotated={rotated} onClose={close} />}
      {open === 'revoke' && (
        <Confirm
          title={`Revoke ${name}?`}
          text={
            'Programs that use this key are refused from now on. This cannot be taken back; ' +
            'disable the key instead if you may need it again.'
          }
          verb={`Revoke ${name}`}
          action={revoke}
          onClose={close}
        />
      )}
      {whole !== null && (
        <ShownKey title="The new secret" made={whole} onClose={() => setWhole(null)} />
      )}
    </>
  );
}

interface RenameKeyProps {
  readonly subject: Key;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function RenameKey({ subject, onDone, onClose }: RenameKeyProps) {
  const [name, setName] = useState(subject.name);
  const rename = async (): Promise<void> => {
    await my('key.rename', { key: subject.id, name: name.trim() });
    await onDone();
  };
  return (
    <FormDialog title={`Rename ${subject.name}`} verb="Rename" action={rename} onClose={onClose}>
      <NameField value={name} onValue={setName} />
    </FormDialog>
  );
}

interface RotateKeyProps {
  readonly subject: Key;
  readonly onRotated: (made: WholeKey) => void;
  readonly onClose: () => void;
}

function RotateKey({ subject, onRotated, onClose }: RotateKeyProps) {
  const [overlapS, setOverlap] = useState<(typeof OVERLAPS)[number]['value']>('86400');
  const rotate = async (): Promise<false> => {
    onRotated(await my('key.rotate', { key: subject.id, overlap_s: Number(overlapS) }));
    return false;
  };
  return (
    <FormDialog title={`Rotate ${subject.name}`} verb="Rotate" action={rotate} onClose={onClose}>
      <p>
        The key gets a new secret, which is shown once. Its name, its limits and its usage stay.
      </p>
      <SelectField
        label="The old secret ends"
        hint="Until then both work, so that you can replace it without a gap."
        value={overlapS}
        options={OVERLAPS}
        onValue={setOverlap}
      />
    </FormDialog>
  );
}
