import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { currentSession, logOut } from '../api/session.js';
import { IconButton } from '../ui/button/icon-button.js';
import { toastFault } from '../ui/dialog/toasts.js';

export function Whoami() {
  const [dialog, setDialog] = useState<ComponentChildren>(null);
  // A log-out works without this file, too.
  const leave = (): Promise<void> =>
    import('./log-out.js').then((part) => part.leave(setDialog), logOut);
  return (
    <div class="sidebar-foot">
      <span class="name">{currentSession().member.name}</span>
      <IconButton icon="log-out" label="Log out" onClick={() => void leave().catch(toastFault)} />
      {dialog}
    </div>
  );
}
