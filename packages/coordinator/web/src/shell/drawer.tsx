import { Dialog } from '../ui/dialog/dialog.js';
import { Nav } from './nav.js';
import { Whoami } from './whoami.js';

interface DrawerProps {
  readonly onClose: () => void;
  readonly onLogOut: () => void;
}

/** The sidebar of narrow screens; loaded when it is first opened. */
export function Drawer({ onClose, onLogOut }: DrawerProps) {
  return (
    <Dialog title="Menu" shape="drawer" onClose={onClose}>
      <Nav onLeave={onClose} />
      <Whoami onLogOut={onLogOut} />
    </Dialog>
  );
}
