import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { FaultText } from '../../ui/table/states.js';
import { EnrolledAgain } from './enrolled-again.js';
import { TOKEN_LIFE_S } from './join-token.js';
import type { MadeToken } from './join-token.js';
import type { OwnProvider } from './own-providers.js';

interface EnrollAgainProps {
  readonly provider: OwnProvider;
  readonly onClose: () => void;
}

/** A machine that was set up anew, or whose token somebody has seen. */
export function EnrollAgain({ provider, onClose }: EnrollAgainProps) {
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
