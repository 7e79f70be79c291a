import type { ComponentChildren } from 'preact';
import { ErrorBoundary, lazy, useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { useCell } from '../api/cell.js';
import { logOut } from '../api/session.js';
import mark from '../style/mark.svg?url';
import { Icon } from '../ui/button/icon.js';
import { IconButton } from '../ui/button/icon-button.js';
import { toastFault } from '../ui/dialog/toasts.js';
import { Nav } from './nav.js';
import { notificationPermission, notifications } from './preferences.js';
import { Screens } from './screens.js';
import { Whoami } from './whoami.js';

const Drawer = lazy(() => import('./drawer.js').then((one) => one.Drawer));
const Palette = lazy(() => import('./palette.js').then((one) => one.Palette));
const ShortcutList = lazy(() => import('./shortcut-list.js').then((one) => one.ShortcutList));

/** The frame around every screen. */
export function Frame() {
  const [open, setOpen] = useState<'menu' | 'palette' | 'shortcuts' | null>(null);
  const close = (): void => setOpen(null);
  const find = (): void => setOpen('palette');
  const help = (): void => setOpen('shortcuts');
  const [dialog, setDialog] = useState<ComponentChildren>(null);
  const leave = (): void => {
    // A log-out works without this file, too.
    const leaving = import('./log-out.js').then((part) => part.leave(setDialog), logOut);
    void leaving.catch(toastFault);
  };
  const { route } = useLocation();
  useStarted(true, async () => {
    const { startShortcuts } = await import('./shortcuts.js');
    return startShortcuts({ open: route, onPalette: find, onHelp: help });
  });
  const mayNotify = notificationPermission() === 'granted';
  useStarted(useCell(notifications) === 'on' && mayNotify, async () => {
    const { startNotifications } = await import('./notifications.js');
    return startNotifications(route);
  });
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="topbar">
        <IconButton icon="menu" label="Menu" small={false} onClick={() => setOpen('menu')} />
        <Brand />
        <IconButton icon="search" label="Go to" small={false} onClick={find} />
      </header>
      {/* CSS hides one of the two headers, depending on the width. */}
      <header class="sidebar">
        <Brand />
        <button type="button" class="go-to" onClick={find}>
          <Icon name="search" />
          <span>Go to…</span>
          <kbd>Ctrl K</kbd>
        </button>
        <Nav />
        <Whoami onLogOut={leave} />
      </header>
      <ErrorBoundary>
        {open === 'menu' && <Drawer onClose={close} onLogOut={leave} />}
        {open === 'palette' && <Palette onClose={close} onHelp={help} onLogOut={leave} />}
        {open === 'shortcuts' && <ShortcutList onClose={close} />}
        {dialog}
      </ErrorBoundary>
      <main class="main" id="main">
        <Screens />
      </main>
    </div>
  );
}

/**
 * Starts something whose file is not needed for the first screen. Without its file nothing starts;
 * the next load of the page tries again.
 */
function useStarted(isWanted: boolean, start: () => Promise<() => void>): void {
  useEffect(() => {
    if (!isWanted) return undefined;
    let isOver = false;
    let stop = (): void => undefined;
    const begin = async (): Promise<void> => {
      const started = await start();
      if (isOver) started();
      else stop = started;
    };
    begin().catch(() => undefined);
    return () => {
      isOver = true;
      stop();
    };
  }, [isWanted]);
}

function Brand() {
  return (
    <a class="brand" href="/">
      <img src={mark} alt="" />
      Inference Gateway
    </a>
  );
}
