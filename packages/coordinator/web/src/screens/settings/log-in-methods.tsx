import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { asFault } from '../../api/fault.js';
import { Button } from '../../ui/button/button.js';
import { Banner } from '../../ui/dialog/banner.js';
import { toast } from '../../ui/dialog/toasts.js';
import { TextField } from '../../ui/form/field.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { PasswordField } from '../../ui/form/password-field.js';
import { RowMenu } from '../../ui/table/row-menu.js';
import type { RowAction } from '../../ui/table/row-menu.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { useQuery } from '../../ui/form/query.js';
import { addPasskey, goToProvider, hasPasskeys, problemText } from '../account/log-in-methods.js';
import type { OfferedMethods } from '../account/log-in-methods.js';

type OwnMethods = MyResult<'user.log-in-methods'>;
type Passkey = OwnMethods['passkeys'][number];
type Identity = OwnMethods['oidc'][number];

const MAX_NAME = 64;

interface LogInMethodsProps extends PartProps {
  readonly offered: OfferedMethods;
}

/** How the member logs in, besides the password. */
export function LogInMethods({ offered, has, refresh }: LogInMethodsProps) {
  const [problem] = useQuery('problem');
  const text = problemText(problem);
  const canAdd = hasPasskeys(offered);
  const provider = offered.oidc;
  return (
    <>
      {text !== null && <Banner mood="warn" text={text} />}
      {(canAdd || has.passkeys.length > 0) && (
        <Passkeys has={has} refresh={refresh} canAdd={canAdd} />
      )}
      {(provider !== null || has.oidc.length > 0) && (
        <Provider has={has} refresh={refresh} provider={provider} />
      )}
    </>
  );
}

interface PartProps {
  readonly has: OwnMethods;
  readonly refresh: () => Promise<void>;
}

function Passkeys({ has, refresh, canAdd }: PartProps & { readonly canAdd: boolean }) {
  const [isAdding, setAdding] = useState(false);
  return (
    <section class="section">
      <div class="card-head">
        <h2>Passkeys</h2>
        {canAdd && (
          <Button
            icon="plus"
            disabled={has.passkeys.length >= has.max_passkeys}
            onClick={() => setAdding(true)}
          >
            Add a passkey
          </Button>
        )}
      </div>
      {has.passkeys.length === 0 ? (
        <p class="soft">
          With a passkey you log in by your fingerprint, your face or a security key, without the
          password. The password stays.
        </p>
      ) : (
        <Table
          caption="Passkeys"
          saveAs="passkeys"
          columns={columnsOf({ has, refresh })}
          rows={has.passkeys}
          rowKey={({ id }) => id}
        />
      )}
      {isAdding && <AddPasskey has={has} refresh={refresh} onClose={() => setAdding(false)} />}
    </section>
  );
}

function columnsOf({ has, refresh }: PartProps): readonly Column<Passkey>[] {
  return [
    { head: 'Name', isName: true, kind: 'grow', cell: ({ name }) => name },
    {
      head: 'Last used',
      cell: ({ last_used_at: at }) => (at === null ? 'never' : <Ago at={at} />),
    },
    { head: 'Added', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (passkey) => (
        <RowMenu name={passkey.name} actions={actionsOf(passkey, has)} onDone={refresh} />
      ),
    },
  ];

  function actionsOf(passkey: Passkey, of: OwnMethods): readonly RowAction[] {
    return [
      {
        kind: 'form',
        text: 'Rename',
        form: (close) => <Rename passkey={passkey} refresh={refresh} onClose={close} />,
      },
      {
        kind: 'form',
        text: 'Delete',
        danger: true,
        form: (close) => (
          <ProvenDialog
            title={`Delete ${passkey.name}?`}
            verb="Delete the passkey"
            hasPassword={of.has_password}
            onClose={close}
            action={async (password) => {
              await my('passkey.remove', { passkey: passkey.id, password });
              toast(`${passkey.name} is deleted here. Remove it from its device, too.`);
              await refresh();
            }}
          >
            <p>Nobody can log in with it any more.</p>
          </ProvenDialog>
        ),
      },
    ];
  }
}

interface DialogProps extends PartProps {
  readonly onClose: () => void;
}

function AddPasskey({ has, refresh, onClose }: DialogProps) {
  const [name, setName] = useState('');
  return (
    <ProvenDialog
      title="Add a passkey"
      verb="Continue"
      hasPassword={has.has_password}
      onClose={onClose}
      action={async (password) => {
        await addPasskey({ name: name.trim(), password });
        toast(`${name.trim()} is added. You can log in with it.`);
        await refresh();
      }}
    >
      <TextField
        label="Name"
        hint="So that you know it again: the device that keeps it."
        placeholder="Laptop"
        autofocus
        required
        maxLength={MAX_NAME}
        value={name}
        onValue={setName}
      />
    </ProvenDialog>
  );
}

interface RenameProps {
  readonly passkey: Passkey;
  readonly refresh: () => Promise<void>;
  readonly onClose: () => void;
}

function Rename({ passkey, refresh, onClose }: RenameProps) {
  const [name, setName] = useState(passkey.name);
  const rename = async (): Promise<void> => {
    await my('passkey.rename', { passkey: passkey.id, name: name.trim() });
    await refresh();
  };
  return (
    <FormDialog title={`Rename ${passkey.name}`} verb="Save" action={rename} onClose={onClose}>
      <TextField
        label="Name"
        autofocus
        required
        maxLength={MAX_NAME}
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}

interface ProviderProps extends PartProps {
  /** Null: it is not configured any more. */
  readonly provider: OfferedMethods['oidc'];
}

function Provider({ has, refresh, provider }: ProviderProps) {
  const [isConnecting, setConnecting] = useState(false);
  const [leaving, setLeaving] = useState<Identity | null>(null);
  const name = provider?.name ?? 'Single sign-on';
  return (
    <section class="section">
      <div class="card-head">
        <h2>{capitalized(name)}</h2>
        {provider !== null && has.oidc.length === 0 && (
          <Button onClick={() => setConnecting(true)}>Connect</Button>
        )}
      </div>
      {has.oidc.length === 0 && (
        <p class="soft">Connect your account there to log in with it. The password stays.</p>
      )}
      {has.oidc.map((identity) => (
        <div class="row spread" key={identity.issuer}>
          <p>
            {identity.email ?? 'Connected'} <span class="soft">at {hostOf(identity.issuer)}</span>
          </p>
          <Button small onClick={() => setLeaving(identity)}>
            Disconnect
          </Button>
        </div>
      ))}
      {isConnecting && (
        <ProvenDialog
          title={`Connect ${name}`}
          verb="Continue"
          hasPassword={has.has_password}
          onClose={() => setConnecting(false)}
          action={(password) => goToProvider({ connect: true, password })}
        >
          <p>You log in there now, and come back here. From then on that account logs you in.</p>
        </ProvenDialog>
      )}
      {leaving !== null && (
        <ProvenDialog
          title={`Disconnect ${name}?`}
          verb="Disconnect"
          hasPassword={has.has_password}
          onClose={() => setLeaving(null)}
          action={async (password) => {
            await my('oidc.disconnect', { issuer: leaving.issuer, password });
            toast('That account logs you in no more.');
            await refresh();
          }}
        >
          <p>You log in with your password or a passkey then.</p>
        </ProvenDialog>
      )}
    </section>
  );
}

interface ProvenDialogProps {
  readonly title: string;
  readonly verb: string;
  readonly hasPassword: boolean;
  /** Gets null as long as the coordinator has not asked for the password. */
  readonly action: (password: string | null) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks for the password only if the log-in is not recent. */
function ProvenDialog(props: ProvenDialogProps) {
  const { title, verb, hasPassword, action, onClose, children } = props;
  const [password, setPassword] = useState<string | null>(null);
  const act = async (): Promise<unknown> => {
    try {
      return await action(password);
    } catch (thrown) {
      const isAsked = asFault(thrown).code === 'proof_required' && password === null;
      if (!isAsked || !hasPassword) throw thrown;
      setPassword('');
      return false;
    }
  };
  return (
    <FormDialog title={title} verb={verb} action={act} onClose={onClose}>
      {children}
      {password !== null && (
        <PasswordField
          label="Your password"
          hint="Your last log-in is some time ago: show that it is you."
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
        />
      )}
    </FormDialog>
  );
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
