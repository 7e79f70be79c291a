/** Every screen and its address. Each is loaded when it is first opened. */
import { ErrorBoundary, Route, Router, lazy } from 'preact-iso';
import { asFault } from '../api/fault.js';
import { toast } from '../ui/dialog/toasts.js';

const Home = lazy(() => import('../screens/home/home.js').then((one) => one.Home));
const Queue = lazy(() => import('../screens/queue/queue.js').then((one) => one.Queue));
const Jobs = lazy(() => import('../screens/jobs/jobs.js').then((one) => one.Jobs));
const Job = lazy(() => import('../screens/jobs/job.js').then((one) => one.Job));
const Batches = lazy(() => import('../screens/batches/batches.js').then((one) => one.Batches));
const Batch = lazy(() => import('../screens/batches/batch.js').then((one) => one.Batch));
const Playground = lazy(() =>
  import('../screens/playground/playground.js').then((one) => one.Playground),
);
const Models = lazy(() => import('../screens/models/models.js').then((one) => one.Models));
const Providers = lazy(() =>
  import('../screens/providers/providers.js').then((one) => one.Providers),
);
const Provider = lazy(() => import('../screens/providers/provider.js').then((one) => one.Provider));
const Network = lazy(() => import('../screens/network/network.js').then((one) => one.Network));
const Usage = lazy(() => import('../screens/usage/usage.js').then((one) => one.Usage));
const Request = lazy(() => import('../screens/usage/request.js').then((one) => one.Request));
const Library = lazy(() => import('../screens/library/library.js').then((one) => one.Library));
const Settings = lazy(() => import('../screens/settings/settings.js').then((one) => one.Settings));
const Device = lazy(() => import('../screens/account/device.js').then((one) => one.Device));
const Admin = lazy(() => import('../screens/admin/admin.js').then((one) => one.Admin));
const Docs = lazy(() => import('../screens/docs/docs.js').then((one) => one.Docs));
const NotFound = lazy(() => import('./not-found.js').then((one) => one.NotFound));

export function Screens() {
  return (
    <ErrorBoundary onError={tell}>
      <Router>
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
    </ErrorBoundary>
  );
}

/**
 * The most likely reason: the coordinator was updated, and the screen's old file no longer exists.
 */
function tell(error: Error): void {
  toast(`${asFault(error).message} Reload the page.`, 'bad');
}
