import { ErrorBoundary, LocationProvider, Route, Router, lazy, useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { asFault } from '../api/fault.js';
import type { Fault } from '../api/fault.js';
import { startLive, stopLive } from '../api/live.js';
import { useCell } from '../api/cell.js';
import { followTabs, isUnset, loadSession, session } from '../api/session.js';
import { Toasts } from '../ui/dialog/toasts.js';

/** Routes of the page; other paths, such as files, belong to the coordinator. */
const OWN_PAGES = /^\/(?!api\/|v1\/|agent\/|assets\/)/;

/** Loaded while the coordinator says who is logged in: it is drawn only after that. */
const frame = import('./frame.js');
const Frame = lazy(() => frame.then((one) => one.Frame));
const LogIn = lazy(() => import('../screens/account/log-in.js').then((one) => one.LogIn));
const NotSetUp = lazy(() => import('../screens/account/not-set-up.js').then((one) => one.NotSetUp));
const Join = lazy(() => import('../screens/account/join.js').then((one) => one.Join));
const Reset = lazy(() => import('../screens/account/reset.js').then((one) => one.Reset));
const SetUp = lazy(() => import('../screens/account/set-up.js').then((one) => one.SetUp));

export function App() {
  return (
    <LocationProvider scope={OWN_PAGES}>
      <Gate />
      <Toasts />
    </LocationProvider>
  );
}

/** Without a session, shows only the log-in screens. */
function Gate() {
  const [fault, setFault] = useState<Fault | null>(null);
  const load = (): void => {
    setFault(null);
    loadSession().catch((thrown: unknown) => setFault(asFault(thrown)));
  };
  useEffect(load, []);
  useEffect(followTabs, []);
  const current = useCell(session);
  const memberId = current?.member.id;
  useEffect(() => {
    if (memberId === undefined) return undefined;
    startLive();
    return stopLive;
  }, [memberId]);
  if (fault !== null) {
    return (
      <main class="alone">
        <p role="alert">{fault.message}</p>
        <button type="button" class="button" onClick={load}>
          Try again
        </button>
      </main>
    );
  }
  if (current === undefined) return <main class="alone" aria-busy="true" />;
  // After another member's log-in, all screens start again from their initial state.
  return current === null ? <Outside /> : <Inside key={memberId} />;
}

function Outside() {
  return (
    <main class="alone">
      <Router>
        <Route path="/join" component={Join} />
        <Route path="/reset" component={Reset} />
        <Route path="/setup" component={SetUp} />
        <Route default component={useCell(isUnset) ? NotSetUp : LogIn} />
      </Router>
    </main>
  );
}

/** On log-in screens, a member with a session is forwarded. */
const LOG_IN_PAGES = ['/login', '/join', '/reset', '/setup'];

/** Their links are for members who are logged in, too. */
const LINKS = ['/join', '/reset'];

function Inside() {
  const { path, query, route } = useLocation();
  // These pages remove the secret from the address, so this is read once, at the first rendering.
  const [hasSecret] = useState(location.hash !== '');
  const isInvited = hasSecret && LINKS.includes(path);
  const isLogInPage = LOG_IN_PAGES.includes(path) && !isInvited;
  useEffect(() => {
    if (isLogInPage) route(ownPage(query['next']), true);
  }, [isLogInPage]);
  if (isInvited) return <Outside />;
  return isLogInPage ? null : (
    <ErrorBoundary>
      <Frame />
    </ErrorBoundary>
  );
}

/** `next` comes from the address: it must not lead to another site. */
function ownPage(next = '/'): string {
  return OWN_PAGES.test(next) && !next.startsWith('//') && !next.includes('\\') ? next : '/';
}
