import type { ComponentChildren } from 'preact';
import { currentSession, logOut } from '../api/session.js';
import { eraseDatabase, keptCount } from '../screens/playground/chat/chat-db.js';
import { Button } from '../ui/button/button.js';
import { Dialog } from '../ui/dialog/dialog.js';
import { toastFault } from '../ui/dialog/toasts.js';
import { useAct } from '../ui/form/act.js';
import { FaultText } from '../ui/table/states.js';

/** Logs out. If this browser keeps chats of the member, shows a dialog that asks first. */
export async function leave(show: (dialog: ComponentChildren) => void): Promise<void> {
  const count = await keptCount(currentSession().member.id).catch(() => 0);
  if (count === 0) await logOut();
  else show(<LogOut onClose={() => show(null)} />);
}

/** Asks what happens to the chats that this browser keeps. */
function LogOut({ onClose }: { readonly onClose: () => void }) {
  const act = useAct(async (isErased: boolean) => {
    const memberId = currentSession().member.id;
    // First, because a log-out that fails must not cost the chats.
    await logOut();
    // This dialog is gone by now.
    if (isErased) await eraseDatabase(memberId).catch(toastFault);
  });
  return (
    <Dialog title="Log out" onClose={onClose}>
      <p>
        This browser keeps chats or presets of yours. Keep them for your next log-in here, or erase
        them? Other members do not see them, but anyone who uses this computer’s account can read
        its files.
      </p>
      <FaultText fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Stay</Button>
        <Button busy={act.isBusy} onClick={() => void act.run(false)}>
          Keep and log out
        </Button>
        <Button tone="danger" busy={act.isBusy} onClick={() => void act.run(true)}>
          Erase and log out
        </Button>
      </div>
    </Dialog>
  );
}
