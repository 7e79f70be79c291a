import { currentSession } from '../api/session.js';
import { IconButton } from '../ui/button/icon-button.js';

export function Whoami({ onLogOut }: { readonly onLogOut: () => void }) {
  return (
    <div class="sidebar-foot">
      <span class="name">{currentSession().member.name}</span>
      <IconButton icon="log-out" label="Log out" onClick={onLogOut} />
    </div>
  );
}
