import { Dialog } from '../ui/dialog/dialog.js';
import { Nav } from './nav.js';
import { Whoami } from './whoami.js';

/** The sidebar of narrow screens; loaded when it is first opened. */
export function Drawer({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Menu" shape="drawer" onClose={onClose}>
      <Nav onLeave={onClose} />
      <Whoami />
    </Dialog>
  );
}
