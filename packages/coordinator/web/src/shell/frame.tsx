import { ErrorBoundary, lazy } from 'preact-iso';
import { useState } from 'preact/hooks';
import mark from '../style/mark.svg?url';
import { IconButton } from '../ui/button/icon-button.js';
import { Nav } from './nav.js';
import { Screens } from './screens.js';
import { Whoami } from './whoami.js';

const Drawer = lazy(() => import('./drawer.js').then((one) => one.Drawer));

/** The frame around every screen. */
export function Frame() {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="topbar">
        <IconButton icon="menu" label="Menu" small={false} onClick={() => setOpen(true)} />
        <Brand />
      </header>
      {/* CSS hides one of the two headers, depending on the width. */}
      <header class="sidebar">
        <Brand />
        <Nav />
        <Whoami />
      </header>
      {isOpen && (
        <ErrorBoundary>
          <Drawer onClose={close} />
        </ErrorBoundary>
      )}
      <main class="main" id="main">
        <Screens />
      </main>
    </div>
  );
}

function Brand() {
  return (
    <a class="brand" href="/">
      <img src={mark} alt="" />
      Inference Gateway
    </a>
  );
}
