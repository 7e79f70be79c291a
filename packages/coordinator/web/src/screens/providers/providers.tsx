import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { useQueryFlag } from '../../ui/form/query.js';
import { Page } from '../../ui/page.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty, FaultText } from '../../ui/table/states.js';
import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { useAct, useToastedAct } from '../../ui/form/act.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { Icon } from '../../ui/button/icon.js';
import { DeviceCode } from '../account/device.js';
import { InviteAndShare } from '../sharing/invite-and-share.js';
import { SharingSection } from '../sharing/sharing-section.js';
import { useOwnProviders } from './own-providers.js';
import type { OwnProvider } from './own-providers.js';
import { ProviderTable } from './provider-table.js';
import { InstallAgent } from './install-agent.js';
import { TOKEN_LIFE_S, useJoinTokens } from './join-token.js';
import type { MadeToken } from './join-token.js';
import './providers.css';

/** The member's own providers. */
export function Providers() {
  const [isAdding, setAdding] = useQueryFlag('new');
  const [isSharing, setSharing] = useState(false);
  const providers = useOwnProviders();
  const add = (): void => setAdding(true);
  const actions = (
    <>
      <Button icon="user-plus" onClick={() => setSharing(true)}>
        Invite and share
      </Button>
      <Button tone="primary" icon="plus" onClick={add}>
        Add a GPU
      </Button>
    </>
  );
  return (
    <Page title="Providers" lead={LEAD} staleSince={providers.staleSince} actions={actions}>
      <Loaded of={providers}>
        {(own) =>
          own.length === 0 ? (
            <NoProviders onAdd={add} />
          ) : (
            <ProviderTable providers={own} onChange={providers.refresh} />
          )
        }
      </Loaded>
      <JoinTokens />
      {isAdding && <AddGpu onClose={() => setAdding(false)} />}
      {isSharing && <InviteAndShare onClose={() => setSharing(false)} />}
    </Page>
  );
}

const LEAD = 'Your machines with GPUs. Nobody else uses them until you share something.';

function NoProviders({ onAdd }: { readonly onAdd: () => void }) {
  return (
    <Empty icon="cpu" title="You have no GPU here yet." text={TEXT}>
      <InstallAgent />
      <p>
        It shows a code, which you type <a href="/device">here</a>. Or create a join token here:
      </p>
      <Button icon="plus" onClick={onAdd}>
        Add your first GPU
      </Button>
    </Empty>
  );
}

const TEXT = 'Run this on the machine that has it, beside its model server.';

/** Asks for a name, shows the commands, and stays open until the machine is connected. */
function AddGpu({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<MadeToken | null>(null);
  const [hasCode, setHasCode] = useState(false);
  return (
    <Dialog title="Add a GPU" shape="wide" onClose={onClose}>
      {made !== null && <Joining made={made} onClose={onClose} />}
      {made === null && (
        <div class="stack add-gpu">
          {!hasCode && <NameForm onMade={setMade} onClose={onClose} />}
          <WithCode isFound={hasCode} onStep={setHasCode} />
        </div>
      )}
    </Dialog>
  );
}

interface WithCodeProps {
  readonly isFound: boolean;
  readonly onStep: (isFound: boolean) => void;
}

/** The line to paste, and the code that the machine then shows. */
function WithCode({ isFound, onStep }: WithCodeProps) {
  return (
    <section class="stack" aria-label="With a code">
      {!isFound && (
        <>
          <h3>Or let the machine show a code</h3>
          <InstallAgent />
        </>
      )}
      <DeviceCode onStep={onStep} />
    </section>
  );
}

interface NameFormProps {
  readonly onMade: (made: MadeToken) => void;
  readonly onClose: () => void;
}

function NameForm({ onMade, onClose }: NameFormProps) {
  const [name, setName] = useState('');
  const act = useAct(async () => {
    const wanted = { name: name.trim(), expires_in_s: TOKEN_LIFE_S, replace: null };
    onMade(await my('token.create', wanted));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="form" onSubmit={submit}>
      <NameField hint="What you call the machine, such as den-pc." value={name} onValue={setName} />
      <FaultText fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={act.isBusy}>
          Continue
        </Button>
      </div>
    </form>
  );
}

type JoinToken = MyResult<'token.list'>[number];

/** Open join tokens; shows nothing if there are none. */
function JoinTokens() {
  const { data, refresh } = useJoinTokens();
  const end = useToastedAct(async ({ id }: JoinToken) => {
    await my('token.revoke', { token: id });
    toast('The join token is revoked.');
    await refresh();
  });
  const open = data?.filter(({ state }) => state === 'open') ?? [];
  if (open.length === 0) return null;
  return (
    <section class="section after-table">
      <h2>Join tokens that nobody has used yet</h2>
      <Table
        caption="Open join tokens"
        saveAs="join-tokens"
        columns={columnsOf((token) => void end.run(token))}
        rows={open}
        rowKey={({ id }) => id}
      />
    </section>
  );
}

function columnsOf(end: (token: JoinToken) => void): readonly Column<JoinToken>[] {
  return [
    {
      head: 'For',
      isName: true,
      kind: 'grow',
      below: ({ expires_at: at }) => (
        <>
          ends <Ago at={at} />
        </>
      ),
      cell: (token) => forText(token),
    },
    { head: 'Created', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'Expires', ifWide: true, cell: ({ expires_at: at }) => <Ago at={at} /> },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (token) => (
        <Button
          small
          aria-label={`Revoke the token for ${forText(token)}`}
          onClick={() => end(token)}
        >
          Revoke
        </Button>
      ),
    },
  ];
}

function forText({ name, replaces }: JoinToken): string {
  if (replaces !== null) return `${replaces}, which enrolls again`;
  return name ?? 'a machine that names itself';
}

interface JoiningProps {
  readonly made: MadeToken;
  readonly onClose: () => void;
}

/** Shows the commands, and then the machine that has run them. */
function Joining({ made, onClose }: JoiningProps) {
  const tokens = useJoinTokens();
  const providers = useOwnProviders();
  const token = tokens.data?.find(({ id }) => id === made.id);
  const provider = providers.data?.find(({ id }) => id === token?.provider_id);
  const isOver = provider?.online === true;
  return (
    <div class="stack">
      <div role="status" class="joining">
        {provider === undefined && <Waiting text="Waiting for the first command…" />}
        {provider !== undefined && !isOver && (
          <Waiting text={`${provider.name} is enrolled. Waiting for its agent to connect…`} />
        )}
        {isOver && (
          <p class="good">
            <Icon name="circle-check" /> {provider.name} is connected.
          </p>
        )}
      </div>
      {isOver ? <Arrived provider={provider} /> : <Commands made={made} />}
      <div class="dialog-foot">
        {isOver && <LinkButton href={`/providers/${provider.id}`}>Open {provider.name}</LinkButton>}
        <Button tone={isOver ? 'primary' : 'plain'} onClick={onClose}>
          {isOver ? 'Done' : 'Close'}
        </Button>
      </div>
    </div>
  );
}

function Waiting({ text }: { readonly text: string }) {
  return (
    <p class="soft">
      <Icon name="clock" /> {text}
    </p>
  );
}

function Commands({ made }: { readonly made: MadeToken }) {
  return (
    <>
      <p>On the machine with the GPU:</p>
      <InstallAgent token={made.token} />
      <p class="soft small">
        The token works once and ends <Ago at={made.expires_at} />. It is not shown again.
      </p>
    </>
  );
}

function Arrived({ provider }: { readonly provider: OwnProvider }) {
  return (
    <>
      {!provider.approved && <p>An admin has to approve it before it gets work.</p>}
      {provider.models.length === 0 && (
        <p class="soft">It serves no model yet. Start a model server on it.</p>
      )}
      <SharingSection title="What do you share?" providers={[provider]} />
    </>
  );
}
