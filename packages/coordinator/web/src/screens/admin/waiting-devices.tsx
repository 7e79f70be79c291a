import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { SelectField } from '../../ui/form/field.js';
import { Loaded } from '../../ui/table/loaded.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { LISTS } from './every.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { Rows } from './listing.js';
import type { RowAction } from '../../ui/table/row-menu.js';

type Device = AdminResult<'device.list'>[number];

/** Machines that wait for the approval of a `gateway-agent login`. */
export function WaitingDevices() {
  const list = useAdmin('device.list', {}, LISTS);
  const { data, refresh } = list;
  if (data?.length === 0) return null;
  return (
    <section class="section">
      <h2>Machines whose codes wait for approval</h2>
      <Loaded of={list} rows={1}>
        {(rows) => (
          <Rows
            caption="Machines whose codes wait for approval"
            columns={COLUMNS}
            rows={rows}
            nameOf={machineOf}
            actionsOf={(device) => actionsOf(device, refresh)}
            onDone={refresh}
          />
        )}
      </Loaded>
    </section>
  );
}

function machineOf({ name, host, address }: Device): string {
  return name ?? host ?? address;
}

const COLUMNS: readonly Column<Device>[] = [
  {
    head: 'Machine',
    isName: true,
    kind: 'grow',
    below: ({ address, expires_at: at }) => (
      <>
        {address}, ends <Ago at={at} />
      </>
    ),
    cell: machineOf,
  },
  { head: 'Code', cell: ({ code }) => <span class="mono">{code}</span> },
  { head: 'Address', ifWide: true, cell: ({ address }) => <span class="mono">{address}</span> },
  { head: 'Asked', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
  { head: 'Expires', ifWide: true, cell: ({ expires_at: at }) => <Ago at={at} /> },
];

function actionsOf(device: Device, refresh: () => Promise<void>): readonly RowAction[] {
  const { code } = device;
  const name = machineOf(device);
  return [
    {
      kind: 'form',
      text: 'Approve',
      form: (close) => <ApproveDevice device={device} onDone={refresh} onClose={close} />,
    },
    {
      kind: 'ask',
      text: 'Deny',
      title: `Deny ${name}?`,
      explain: 'Its agent is told, and stops asking.',
      async run() {
        await admin('device.deny', { code });
        return `${name} was not let in.`;
      },
    },
  ];
}

interface ApproveDeviceProps {
  readonly device: Device;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** The admin chooses the owner: the machine itself does not know it. */
function ApproveDevice({ device, onDone, onClose }: ApproveDeviceProps) {
  const [owner, setOwner] = useState(currentSession().member.id);
  const users = useAdmin('user.list', {}, LISTS).data ?? [];
  const { code } = device;
  const name = machineOf(device);
  const approve = async (): Promise<void> => {
    await admin('device.approve', { code, owner });
    toast(`${name} is let in.`);
    await onDone();
  };
  return (
    <FormDialog title={`Let ${name} in?`} verb="Approve" action={approve} onClose={onClose}>
      <p>
        Approve it only if the machine shows <b class="mono">{code}</b> now. Its owner decides what
        it shares, and with whom.
      </p>
      <SelectField
        label="Owner"
        value={owner}
        options={users
          .filter(({ state }) => state === 'active')
          .map((one) => ({ value: one.id, label: one.name }))}
        onValue={setOwner}
      />
    </FormDialog>
  );
}
