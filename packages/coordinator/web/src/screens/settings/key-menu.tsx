import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Menu, MenuItem } from '../../ui/button/menu.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useKeys } from './keys.js';
import type { Key, WholeKey } from './keys.js';
import { RenameKey } from './rename-key.js';
import { RotateKey } from './rotate-key.js';
import { ShownKey } from './shown-key.js';

type Open = 'rename' | 'rotate' | 'revoke' | null;

/** What may be done with one key; nothing any more with one that is revoked. */
export function KeyMenu({ subject }: { readonly subject: Key }) {
  const { id, name, state } = subject;
  const [open, setOpen] = useState<Open>(null);
  const [whole, setWhole] = useState<WholeKey | null>(null);
  const keys = useKeys();
  const close = (): void => setOpen(null);
  const change = useToastedAct(async (command: 'key.disable' | 'key.enable') => {
    await my(command, { key: id });
    toast(command === 'key.enable' ? `${name} works again.` : `${name} is disabled.`);
    await keys.refresh();
  });
  const rotated = (made: WholeKey): void => {
    close();
    setWhole(made);
    void keys.refresh();
  };
  const revoke = async (): Promise<void> => {
    await my('key.revoke', { key: id });
    toast(`${name} is revoked.`);
    await keys.refresh();
  };
  if (state === 'revoked') return null;
  return (
    <>
      <Menu label={`Actions for ${name}`}>
        <MenuItem onClick={() => setOpen('rename')}>Rename…</MenuItem>
        {state === 'active' && <MenuItem onClick={() => setOpen('rotate')}>Rotate…</MenuItem>}
        {state === 'active' && (
          <MenuItem onClick={() => void change.run('key.disable')}>Disable</MenuItem>
        )}
        {state === 'disabled' && (
          <MenuItem onClick={() => void change.run('key.enable')}>Enable</MenuItem>
        )}
        <Button tone="danger" onClick={() => setOpen('revoke')}>
          Revoke…
        </Button>
      </Menu>
      {open === 'rename' && (
        <RenameKey subject={subject} onDone={() => keys.refresh()} onClose={close} />
      )}
      {open === 'rotate' && <RotateKey subject={subject} onRotated={rotated} onClose={close} />}
      {open === 'revoke' && (
        <Confirm
          title={`Revoke ${name}?`}
          text={
            'Whatever calls with this key is refused from now on. This cannot be taken back; ' +
            'disable the key instead if you may need it again.'
          }
          verb={`Revoke ${name}`}
          action={revoke}
          onClose={close}
        />
      )}
      {whole !== null && (
        <ShownKey title="The new secret" made={whole} onClose={() => setWhole(null)} />
      )}
    </>
  );
}
