import { useState, useEffect } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Empty, FaultState, Loading, FaultText } from '../../ui/table/states.js';
import { readMy } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { SelectField } from '../../ui/form/field.js';
import { ShareMatrix } from './share-matrix.js';
import { audiencesOf, useGivenShares, useNetworks } from './shares.js';
import type { Audience, OwnProvider } from './shares.js';

interface SharingSectionProps {
  readonly title: string;
  readonly providers: readonly OwnProvider[];
}

/** The share matrix of these providers. */
export function SharingSection({ title, providers }: SharingSectionProps) {
  const networks = useNetworks();
  const shares = useGivenShares();
  const [people, setPeople] = useState<readonly Audience[]>([]);
  const [isAsking, setAsking] = useState(false);
  const fault = networks.fault ?? shares.fault;
  const retry = (): void => void Promise.all([networks.refresh(), shares.refresh()]);
  if (networks.data === undefined || shares.data === undefined) {
    return fault === null ? <Loading rows={3} /> : <FaultState fault={fault} onRetry={retry} />;
  }
  const ids = new Set(providers.map(({ id }) => id));
  const own = shares.data.filter(({ provider_id: id }) => ids.has(id));
  const audiences = audiencesOf(networks.data, own, people);
  return (
    <section class="section">
      <div class="card-head">
        <h2>{title}</h2>
        {networks.data.length > 0 && (
          <Button small icon="user-plus" onClick={() => setAsking(true)}>
            Share with one person
          </Button>
        )}
      </div>
      {audiences.length === 0 ? (
        <NoAudience />
      ) : (
        <>
          <p class="soft small above-matrix">{HOW}</p>
          <ShareMatrix
            providers={providers}
            audiences={audiences}
            shares={own}
            onChange={() => shares.refresh()}
          />
        </>
      )}
      {isAsking && (
        <PersonDialog
          networks={networks.data}
          known={audiences}
          onChosen={(person) => {
            setPeople([...people, person]);
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}

const HOW =
  'A tick shares at once; removing the tick ends the share at once. ' +
  'Each share can have hours and limits.';

function NoAudience() {
  return (
    <Empty
      icon="users"
      title="Only you use it."
      text="Create a network and invite somebody to it, then tick here what they may use."
    >
      <LinkButton href="/network">Go to Network</LinkButton>
    </Empty>
  );
}

interface PersonDialogProps {
  readonly networks: readonly { readonly id: string }[];
  /** The audiences that the matrix already has. */
  readonly known: readonly Audience[];
  readonly onChosen: (person: Audience) => void;
  readonly onClose: () => void;
}

/** Adds a member of one of the networks as a column of the matrix. */
function PersonDialog({ networks, known, onChosen, onClose }: PersonDialogProps) {
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
            hint="Somebody in your networks. They get a column: tick there what they may use."
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
