/** Every screen and its address. Each is loaded when it is first opened. */
import type { ComponentChildren, ComponentType } from 'preact';
import { ErrorBoundary, Route, Router, lazy, useLocation } from 'preact-iso';
import { useEffect, useMemo } from 'preact/hooks';
import { Cell, useCell } from '../api/cell.js';
import { asFault } from '../api/fault.js';
import { toast } from '../ui/dialog/toasts.js';
import { screensFor } from './nav.js';

const Home = screen(() => import('../screens/home/home.js').then((one) => one.Home));
const Queue = screen(() => import('../screens/queue/queue.js').then((one) => one.Queue));
const Jobs = screen(() => import('../screens/jobs/jobs.js').then((one) => one.Jobs));
const Job = screen(() => import('../screens/jobs/job.js').then((one) => one.Job));
const Batches = screen(() => import('../screens/batches/batches.js').then((one) => one.Batches));
const Batch = screen(() => import('../screens/batches/batch.js').then((one) => one.Batch));
const Playground = screen(() =>
  import('../screens/playground/playground.js').then((one) => one.Playground),
);
const Models = screen(() => import('../screens/models/models.js').then((one) => one.Models));
const Providers = screen(() =>
  import('../screens/providers/providers.js').then((one) => one.Providers),
);
const Provider = screen(() =>
  import('../screens/providers/provider.js').then((one) => one.Provider),
);
const Network = screen(() => import('../screens/network/network.js').then((one) => one.Network));
const Usage = screen(() => import('../screens/usage/usage.js').then((one) => one.Usage));
const Request = screen(() => import('../screens/usage/request.js').then((one) => one.Request));
const Library = screen(() => import('../screens/library/library.js').then((one) => one.Library));
const Settings = screen(() =>
  import('../screens/settings/settings.js').then((one) => one.Settings),
);
const Device = screen(() => import('../screens/account/device.js').then((one) => one.Device));
const Admin = screen(() => import('../screens/admin/admin.js').then((one) => one.Admin));
const Docs = screen(() => import('../screens/docs/docs.js').then((one) => one.Docs));
const NotFound = screen(() => import('./not-found.js').then((one) => one.NotFound));

/** Loads a screen; says so if it could not be loaded. */
function screen(load: () => Promise<ComponentType>): ComponentType {
  return lazy(() => load().catch(() => NotLoaded));
}

const RELOAD_MS = 5_000;

/**
 * The browser's own message names a file, which helps nobody. Where the gateway did not answer, the
 * page is loaded again as soon as it does.
 */
function NotLoaded() {
  useEffect(() => {
    let wasGone = false;
    const look = async (): Promise<void> => {
      const isThere = await fetch('/healthz').then(
        ({ ok }) => ok,
        () => false,
      );
      if (isThere && wasGone) location.reload();
      wasGone ||= !isThere;
    };
    void look();
    const timer = setInterval(() => void look(), RELOAD_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div role="alert">
      <p class="page-head heading">This screen could not be loaded.</p>
      <p>There is no connection, or the gateway was updated while this page was open.</p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </div>
  );
}

/** A screen that comes within this time replaces the former one at once. */
const PATIENCE_MS = 200;

type Stage = 'first' | 'shown' | 'loading' | 'late';

export function Screens() {
  // A cell, because a state of this component would draw the router again while it waits.
  const stage = useMemo(() => new Cell<Stage>('first'), []);
  const begin = (): void => {
    if (stage.value === 'shown') stage.value = 'loading';
  };
  return (
    <ErrorBoundary onError={tell}>
      <Waiting stage={stage}>
        <Router onLoadStart={begin} onLoadEnd={() => (stage.value = 'shown')}>
          <Route path="/" component={Home} />
          <Route path="/queue" component={Queue} />
          <Route path="/jobs" component={Jobs} />
          <Route path="/jobs/:id" component={Job} />
          <Route path="/batches" component={Batches} />
          <Route path="/batches/:id" component={Batch} />
          <Route path="/playground/:kind?" component={Playground} />
          <Route path="/models" component={Models} />
          <Route path="/providers" component={Providers} />
          <Route path="/providers/:id" component={Provider} />
          <Route path="/network" component={Network} />
          <Route path="/usage" component={Usage} />
          <Route path="/usage/:id" component={Request} />
          <Route path="/library" component={Library} />
          <Route path="/settings/:part?" component={Settings} />
          <Route path="/device" component={Device} />
          <Route path="/admin/:part?" component={Admin} />
          <Route path="/docs/:part?" component={Docs} />
          <Route default component={NotFound} />
        </Router>
      </Waiting>
    </ErrorBoundary>
  );
}

interface WaitingProps {
  readonly stage: Cell<Stage>;
  readonly children: ComponentChildren;
}

/** Shows the place of a screen instead of nothing, or of the former screen. */
function Waiting({ stage, children }: WaitingProps) {
  const state = useCell(stage);
  useEffect(() => {
    if (state !== 'loading') return undefined;
    const timer = setTimeout(() => {
      // This runs before the clean-up below if the screen has come just now.
      if (stage.value === 'loading') stage.value = 'late';
    }, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [state]);
  return (
    <>
      {(state === 'first' || state === 'late') && <Expected />}
      <div hidden={state === 'late'} aria-busy={state !== 'shown'}>
        {children}
      </div>
    </>
  );
}

/** Headings of screens that the sidebar names otherwise, or not at all. */
const HEADINGS: readonly (readonly [RegExp, string])[] = [
  [/^\/jobs\/./, 'Job'],
  [/^\/batches\/./, 'Batch'],
  [/^\/providers\/./, 'Provider'],
  [/^\/usage\/./, 'Request'],
  [/^\/settings\/token$/, 'API keys'],
  [/^\/settings\b/, 'Settings'],
  [/^\/device$/, 'Add a machine'],
];

const ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** The place of a screen whose file is on its way: its heading, and rows. */
function Expected() {
  const { path } = useLocation();
  const named = screensFor(true).find(({ href }) => `${path}/`.startsWith(`${href}/`));
  const heading = HEADINGS.find(([pattern]) => pattern.test(path))?.[1] ?? named?.text;
  return (
    <div role="status" aria-label="Loading" aria-busy="true">
      <p class="page-head heading">{heading}</p>
      {ROWS.map((row) => (
        <span key={row} class="skeleton row" />
      ))}
    </div>
  );
}

function tell(error: Error): void {
  toast(`${asFault(error).message} Reload the page.`, 'bad');
}
