import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { useAct, useToastedAct } from '../../ui/form/act.js';
import { Badge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { SelectField } from '../../ui/form/field.js';
import { Loaded } from '../../ui/table/loaded.js';
import { FaultText } from '../../ui/table/states.js';
import { Ago } from '../../ui/text/time.js';
import { LISTS } from './every.js';

interface NetworkMembersProps {
  /** Its id. */
  readonly network: string;
  readonly onChange: () => Promise<void>;
  readonly onClose: () => void;
}

type Shown = AdminResult<'network.show'>;

/** Who is in it; stays open while one lets several in. */
export function NetworkMembers({ network, onChange, onClose }: NetworkMembersProps) {
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
  if (outside.length === 0) return <p class="soft small">Everybody is in it.</p>;
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
