import { useEffect, useState } from 'preact/hooks';
import { readMy } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { SelectField } from '../../ui/form/field.js';
import { FaultText, Loading } from '../../ui/table/states.js';
import type { Audience } from './shares.js';

interface PersonDialogProps {
  readonly networks: readonly { readonly id: string }[];
  /** Those who are in the matrix. */
  readonly known: readonly Audience[];
  readonly onChosen: (person: Audience) => void;
  readonly onClose: () => void;
}

/** Somebody of one's networks, for a column of their own. */
export function PersonDialog({ networks, known, onChosen, onClose }: PersonDialogProps) {
  const [people, setPeople] = useState<readonly Audience[] | null>(null);
  const [id, setId] = useState('');
  const load = useAct(async () => setPeople(await companions(networks)));
  useEffect(() => void load.run(), []);
  const free = people?.filter((one) => !known.some((other) => other.id === one.id));
  const chosen = free?.find((one) => one.id === id) ?? free?.[0];
  const choose = (event: Event): void => {
    event.preventDefault();
    if (chosen !== undefined) onChosen(chosen);
  };
  return (
    <Dialog title="Share with one person" onClose={onClose}>
      <form class="form" onSubmit={choose}>
        <FaultText fault={load.fault} />
        {people === null && load.fault === null && <Loading rows={1} />}
        {free !== undefined && free.length > 0 && (
          <SelectField
            label="Person"
            hint="Somebody of your networks. They get a column to tick what they may use."
            value={chosen?.id ?? ''}
            options={free.map(({ id: value, name }) => ({ value, label: name }))}
            onValue={setId}
          />
        )}
        {free?.length === 0 && <p>Nobody else is in your networks. Invite them to one first.</p>}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" disabled={chosen === undefined}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

async function companions(networks: readonly { readonly id: string }[]) {
  const shown = await Promise.all(
    networks.map(({ id }) => readMy('network.show', { network: id })),
  );
  const self = currentSession().member.id;
  const people = shown
    .flatMap(({ members }) => members)
    .filter(({ id }) => id !== self)
    .map(({ id, name }): [string, Audience] => [id, { kind: 'member', id, name }]);
  return [...new Map(people).values()];
}
