import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Empty, FaultState, Loading } from '../../ui/table/states.js';
import { PersonDialog } from './person-dialog.js';
import { ShareMatrix } from './share-matrix.js';
import { audiencesOf, useGivenShares, useNetworks } from './shares.js';
import type { Audience, OwnProvider } from './shares.js';

interface SharingSectionProps {
  readonly title: string;
  readonly providers: readonly OwnProvider[];
}

/** What of these providers is shared, and the ticks that change it. */
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
  'A tick shares at once; taking it away ends it at once. ' +
  'What is ticked can have hours and limits.';

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
