import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { useOwnProviders } from '../providers/own-providers.js';
import { SharingSection } from '../sharing/sharing-section.js';
import { useNetworks } from '../sharing/shares.js';
import { Blocked } from './blocked.js';
import { CreateNetwork } from './create-network.js';
import { Invitations } from './invitations.js';
import { Invite } from './invite.js';
import { Invites } from './invites.js';
import { NetworkCard } from './network-card.js';
import './network.css';
import type { Network as Row } from './networks.js';
import { Received } from './received.js';

type Open = 'create' | 'invite' | null;

/** With whom one shares: who is there, and what goes from whom to whom. */
export function Network() {
  const [open, setOpen] = useState<Open>(null);
  const networks = useNetworks();
  const { data, staleSince, refresh } = networks;
  const close = (): void => setOpen(null);
  const own = data?.filter((network) => network.own) ?? [];
  const actions = (
    <>
      <Button
        icon="plus"
        {...(own.length === 0 && { tone: 'primary' })}
        onClick={() => setOpen('create')}
      >
        New network
      </Button>
      {own.length > 0 && (
        <Button icon="user-plus" tone="primary" onClick={() => setOpen('invite')}>
          Invite
        </Button>
      )}
    </>
  );
  return (
    <Page title="Network" staleSince={staleSince} actions={actions}>
      <Invitations onJoined={refresh} />
      <Loaded of={networks}>
        {(joined) => (
          <>
            {joined.length === 0 ? (
              <NoNetwork onCreate={() => setOpen('create')} />
            ) : (
              <Cards networks={joined} onChange={refresh} />
            )}
            <Shared isAlone={joined.length === 0} />
          </>
        )}
      </Loaded>
      {own.length > 0 && <Invites />}
      {open === 'create' && <CreateNetwork onDone={refresh} onClose={close} />}
      {open === 'invite' && <Invite networks={own} onClose={close} />}
    </Page>
  );
}

function NoNetwork({ onCreate }: { readonly onCreate: () => void }) {
  return (
    <Empty icon="users" title="You are in no network yet." text={ALONE}>
      <Button icon="plus" onClick={onCreate}>
        Create a network
      </Button>
    </Empty>
  );
}

const ALONE = 'Create one and invite somebody: then you can share GPUs with each other.';

interface CardsProps {
  readonly networks: readonly Row[];
  readonly onChange: () => Promise<void>;
}

function Cards({ networks, onChange }: CardsProps) {
  return (
    <section aria-label="Your networks">
      {networks.map((network) => (
        <NetworkCard key={network.id} network={network} onChange={onChange} />
      ))}
      <Blocked networks={networks} />
    </section>
  );
}

function Shared({ isAlone }: { readonly isAlone: boolean }) {
  const { data } = useOwnProviders();
  return (
    <>
      {!isAlone && data?.length === 0 && (
        <section class="section network-part">
          <h2>What you share</h2>
          <Empty icon="cpu" title="You have no GPU to share yet." text={NO_GPU}>
            <LinkButton href="/providers">Add a GPU</LinkButton>
          </Empty>
        </section>
      )}
      {!isAlone && data !== undefined && data.length > 0 && (
        <div class="network-part">
          <SharingSection title="What you share" providers={data} />
        </div>
      )}
      <Received isAlone={isAlone} />
    </>
  );
}

const NO_GPU = 'You can use what others share with you without one.';
