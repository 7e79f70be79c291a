import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useToastedAct } from '../../ui/form/act.js';
import { useQuery } from '../../ui/form/query.js';
import { Ago } from '../../ui/text/time.js';
import { OnlineBadge } from '../../ui/figures/badge.js';
import { Short, Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { useOwnProviders } from '../providers/own-providers.js';
import { InviteAndShare } from '../sharing/invite-and-share.js';
import { SharingSection } from '../sharing/sharing-section.js';
import { useGivenShares, useNetworks, limitsText } from '../sharing/shares.js';
import { Blocked } from './blocked.js';
import { Invites } from './invites.js';
import { NetworkCard } from './network-card.js';
import { NameDialog } from './name-dialog.js';
import { useInvitations, useReceived } from './networks.js';
import './network.css';
import type { Network as Row } from './networks.js';

/** Networks, their members, and shares in both directions. */
export function Network() {
  const [isCreating, setCreating] = useState(false);
  // Other screens open the dialog by the address.
  const [inviting, setInviting] = useQuery('invite');
  const networks = useNetworks();
  const { data, staleSince, refresh } = networks;
  const create = (): void => setCreating(true);
  const hasOwn = data?.some((network) => network.own) ?? false;
  const actions = (
    <>
      <Button icon="plus" onClick={create}>
        New network
      </Button>
      <Button icon="user-plus" tone="primary" onClick={() => setInviting('1')}>
        Invite and share
      </Button>
    </>
  );
  return (
    <Page title="Network" staleSince={staleSince} actions={actions}>
      <Invitations onJoined={refresh} />
      <Loaded of={networks}>
        {(joined) => (
          <>
            {joined.length === 0 ? (
              <NoNetwork onCreate={create} />
            ) : (
              <Cards networks={joined} onChange={refresh} />
            )}
            <Shared isAlone={joined.length === 0} />
            {hasOwn && <Invites />}
          </>
        )}
      </Loaded>
      {isCreating && <CreateNetwork onDone={refresh} onClose={() => setCreating(false)} />}
      {inviting !== '' && <InviteAndShare onClose={() => setInviting('')} />}
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

/** Waits for all that it shows, so that nothing moves down when another part arrives. */
function Shared({ isAlone }: { readonly isAlone: boolean }) {
  const providers = useOwnProviders();
  const given = useGivenShares();
  const received = useReceived();
  if (!providers.data || !given.data || !received.data) {
    const missing = [providers, given].find(({ data }) => !data) ?? received;
    return <Loaded<unknown> of={missing}>{() => null}</Loaded>;
  }
  return (
    <>
      {!isAlone && providers.data.length === 0 && (
        <section class="section network-part">
          <h2>What you share</h2>
          <Empty icon="cpu" title="You have no GPU to share yet." text={NO_GPU}>
            <LinkButton href="/providers">Add a GPU</LinkButton>
          </Empty>
        </section>
      )}
      {!isAlone && providers.data.length > 0 && (
        <div class="network-part">
          <SharingSection title="What you share" providers={providers.data} />
        </div>
      )}
      {/* A member who is alone has already read above what to do. */}
      {(!isAlone || received.data.length > 0) && <Received rows={received.data} />}
    </>
  );
}

const NO_GPU = 'You can use what others share with you without one.';

interface CreateNetworkProps {
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function CreateNetwork({ onDone, onClose }: CreateNetworkProps) {
  const create = async (name: string): Promise<void> => {
    await my('network.create', { name });
    toast(`${name} is created. Invite somebody to it.`);
    await onDone();
  };
  return <NameDialog title="New network" verb="Create" onName={create} onClose={onClose} />;
}

type Invitation = MyResult<'network.invitations'>[number];

/** Invitations to networks, which the member accepts or declines. */
function Invitations({ onJoined }: { readonly onJoined: () => Promise<void> }) {
  const { data, refresh } = useInvitations();
  if (data === undefined || data.length === 0) return null;
  const change = async (): Promise<void> => {
    await Promise.all([refresh(), onJoined()]);
  };
  return (
    <section class="invitations" aria-label="Invitations to you">
      {data.map((invitation) => (
        <InvitationCard key={invitation.id} invitation={invitation} onChange={change} />
      ))}
    </section>
  );
}

interface InvitationCardProps {
  readonly invitation: Invitation;
  readonly onChange: () => Promise<void>;
}

function InvitationCard({ invitation, onChange }: InvitationCardProps) {
  const { id, name, invited_by: by, invited_at: at } = invitation;
  const accept = useToastedAct(async () => {
    await my('network.accept', { network: id });
    toast(`You are in ${name} now.`);
    await onChange();
  });
  const decline = useToastedAct(async () => {
    await my('network.decline', { network: id });
    toast(`You have declined the invitation to ${name}.`);
    await onChange();
  });
  const isBusy = accept.isBusy || decline.isBusy;
  return (
    <section class="card" aria-label={`Invitation to ${name}`}>
      <div class="card-head">
        <h2>
          {by} invites you to {name}
        </h2>
        <span class="soft small">
          <Ago at={at} />
        </span>
      </div>
      <p class="soft">{JOINING}</p>
      <div class="row">
        <Button tone="primary" busy={isBusy} onClick={() => void accept.run()}>
          Accept
        </Button>
        <Button busy={isBusy} onClick={() => void decline.run()}>
          Decline
        </Button>
      </div>
    </section>
  );
}

const JOINING =
  'Your calls may then run on machines that its members share with it; you still ' +
  'decide what you share.';

type Received = MyResult<'share.received'>[number];

/** The shares that the member has received. */
function Received({ rows }: { readonly rows: readonly Received[] }) {
  return (
    <section class="section network-part">
      <h2>Shared with you</h2>
      {rows.length === 0 ? (
        <Empty icon="share-2" title="Nobody shares anything with you yet." text={ASK} />
      ) : (
        <Table
          caption="Shared with you"
          saveAs="shared-with-me"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ id }) => id}
        />
      )}
    </section>
  );
}

const ASK = 'Ask somebody in your network. What they share shows up here and in Models.';

const COLUMNS: readonly Column<Received>[] = [
  {
    head: 'What',
    isName: true,
    kind: 'grow',
    below: (share) => belowOf(share),
    cell: ({ model, service_id: service }) =>
      model === null && service === null ? (
        'Everything'
      ) : (
        <span class="mono">{model ?? service}</span>
      ),
  },
  { head: 'Provider', ifWide: true, cell: ({ provider }) => <Short text={provider} /> },
  { head: 'State', cell: ({ online }) => <OnlineBadge online={online} /> },
  {
    head: 'Through',
    ifWide: true,
    cell: ({ network }) => <Short text={network ?? 'with you alone'} />,
  },
  {
    head: 'Limits',
    ifWide: true,
    cell: (share) => limitsText(share) || <span class="soft">none</span>,
  },
  { head: 'Since', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

/** The provider, how it is shared, and the limits. */
function belowOf(share: Received): string {
  const { provider, network } = share;
  const way = network === null ? 'with you alone' : `through ${network}`;
  return [provider, way, limitsText(share)].filter((part) => part !== '').join(', ');
}
