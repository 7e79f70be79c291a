import { currentSession, logOut } from '../api/session.js';
import { IconButton } from '../ui/button/icon-button.js';
import { toastFault } from '../ui/dialog/toasts.js';

export function Whoami() {
  return (
    <div class="sidebar-foot">
      <span class="name">{currentSession().member.name}</span>
      <IconButton icon="log-out" label="Log out" onClick={() => void logOut().catch(toastFault)} />
    </div>
  );
}
