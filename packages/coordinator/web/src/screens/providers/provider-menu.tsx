import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Menu, MenuItem } from '../../ui/button/menu.js';
import { toast } from '../../ui/dialog/toasts.js';
import { EnrollAgain } from './enroll-again.js';
import type { OwnProvider } from './own-providers.js';
import { RenameProvider } from './rename-provider.js';
import { useSwitches } from './use-switches.js';

interface ProviderMenuProps {
  readonly provider: OwnProvider;
  readonly onChange: () => Promise<void>;
  /** Where it is no more. */
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
            'Its link is closed and its token ends. What you share of it is shared no more. To ' +
            'come back it must be added again, as a new provider.'
          }
          verb={`Remove ${name}`}
          action={remove}
          onClose={close}
        />
      )}
    </>
  );
}
