import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { Confirm, Dialog } from '../../ui/dialog/dialog.js';
import { Menu, MenuItem } from '../../ui/button/menu.js';
import { toast } from '../../ui/dialog/toasts.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import { useAct } from '../../ui/form/act.js';
import { FaultText } from '../../ui/table/states.js';
import { Icon } from '../../ui/button/icon.js';
import { Ago } from '../../ui/text/time.js';
import type { OwnProvider } from './own-providers.js';
import { useSwitches } from './use-switches.js';
import { TOKEN_LIFE_S, useJoinTokens } from './join-token.js';
import type { MadeToken } from './join-token.js';
import { InstallAgent } from './install-agent.js';

interface ProviderMenuProps {
  readonly provider: OwnProvider;
  readonly onChange: () => Promise<void>;
  /** Called after the provider has been removed. */
  readonly onRemoved?: () => void;
}

type Open = 'rename' | 'token' | 'remove' | null;

export function ProviderMenu({ provider, onChange, onRemoved }: ProviderMenuProps) {
  const { id, name, paused, draining } = provider;
  const [open, setOpen] = useState<Open>(null);
  const switches = useSwitches(provider, onChange);
  const close = (): void => setOpen(null);
  const remove = async (): Promise<void> => {
    await my('provider.remove', { provider: id });
    toast(`${name} is removed.`);
    onRemoved?.();
    await onChange();
  };
  return (
    <>
      <Menu label={`Actions for ${name}`}>
        <MenuItem onClick={() => void switches.run(paused ? 'provider.unpause' : 'provider.pause')}>
          {paused ? 'Resume for others' : 'Pause for others'}
        </MenuItem>
        <MenuItem
          onClick={() => void switches.run(draining ? 'provider.resume' : 'provider.drain')}
        >
          {draining ? 'End draining' : 'Drain'}
        </MenuItem>
        <MenuItem onClick={() => setOpen('rename')}>Rename…</MenuItem>
        <MenuItem onClick={() => setOpen('token')}>New token…</MenuItem>
        <Button tone="danger" onClick={() => setOpen('remove')}>
          Remove…
        </Button>
      </Menu>
      {open === 'rename' && (
        <RenameProvider provider={provider} onDone={onChange} onClose={close} />
      )}
      {open === 'token' && <EnrollAgain provider={provider} onClose={close} />}
      {open === 'remove' && (
        <Confirm
          title={`Remove ${name}?`}
          text={
            'Its link is closed, and its token and its shares end. To come back it must be added ' +
            'again, as a new provider.'
          }
          verb={`Remove ${name}`}
          action={remove}
          onClose={close}
        />
      )}
    </>
  );
}

interface RenameProviderProps {
  readonly provider: OwnProvider;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function RenameProvider({ provider, onDone, onClose }: RenameProviderProps) {
  const [name, setName] = useState(provider.name);
  const rename = async (): Promise<void> => {
    await my('provider.rename', { provider: provider.id, name: name.trim() });
    await onDone();
  };
  return (
    <FormDialog title={`Rename ${provider.name}`} verb="Rename" action={rename} onClose={onClose}>
      <NameField
        hint="Everybody you share it with sees it, next to your own name."
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}

interface EnrollAgainProps {
  readonly provider: OwnProvider;
  readonly onClose: () => void;
}

/** For a machine that was set up again, or whose token has leaked. */
function EnrollAgain({ provider, onClose }: EnrollAgainProps) {
  const [made, setMade] = useState<MadeToken | null>(null);
  const { id, name } = provider;
  const act = useAct(async () => {
    setMade(await my('token.create', { name: null, expires_in_s: TOKEN_LIFE_S, replace: id }));
  });
  return (
    <Dialog title={`A new token for ${name}`} shape="wide" onClose={onClose}>
      {made !== null ? (
        <EnrolledAgain made={made} name={name} onClose={onClose} />
      ) : (
        <>
          <p>
            The machine, or the one that takes its place, enrolls again: its name, its shares and
            its history stay. The old token ends when the new one is used, and not before.
          </p>
          <FaultText fault={act.fault} />
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button tone="primary" busy={act.isBusy} onClick={() => void act.run()}>
              Make a token
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

interface EnrolledAgainProps {
  readonly made: MadeToken;
  readonly name: string;
  readonly onClose: () => void;
}

function EnrolledAgain({ made, name, onClose }: EnrolledAgainProps) {
  const { data } = useJoinTokens();
  const isUsed = data?.some(({ id, state }) => id === made.id && state === 'used') ?? false;
  return (
    <div class="stack">
      <div role="status" class="joining">
        <p class={isUsed ? 'good' : 'soft'}>
          <Icon name={isUsed ? 'circle-check' : 'clock'} />{' '}
          {isUsed ? `${name} has its new token. The old one has ended.` : 'Waiting…'}
        </p>
      </div>
      {!isUsed && (
        <>
          <p>Stop the agent on the machine, then run there:</p>
          <InstallAgent isAgain token={made.token} />
          <p class="soft small">
            The token works once and ends <Ago at={made.expires_at} />. It is not shown again.
          </p>
        </>
      )}
      <div class="dialog-foot">
        <Button tone={isUsed ? 'primary' : 'plain'} onClick={onClose}>
          {isUsed ? 'Done' : 'Close'}
        </Button>
      </div>
    </div>
  );
}
