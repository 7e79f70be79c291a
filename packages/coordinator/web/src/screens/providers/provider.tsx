import { compareVersions } from '@inference-gateway/shared/compare-versions';
import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { CopyText } from '../../ui/button/copy.js';
import { Facts } from '../../ui/text/facts.js';
import { formatCount } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Ago } from '../../ui/text/time.js';
import { Badge } from '../../ui/figures/badge.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { SharingSection } from '../sharing/sharing-section.js';
import { CardTable } from './card-table.js';
import { standingOf, useOwnProviders } from './own-providers.js';
import type { OwnProvider } from './own-providers.js';
import { ProviderDay } from './provider-day.js';
import { ProviderMenu } from './provider-menu.js';
import { ProviderModels } from './provider-models.js';
import { ProviderState } from './provider-state.js';
import { ProviderUptime } from './provider-uptime.js';
import { ProviderError } from './provider-error.js';
import './providers.css';
import { useSwitches } from './use-switches.js';

/** One of the member's own providers. */
export function Provider() {
  const { params } = useRoute();
  const providers = useOwnProviders();
  const provider = providers.data?.find(({ id }) => id === params['id']);
  if (provider !== undefined) {
    const { staleSince, refresh } = providers;
    return <Known provider={provider} staleSince={staleSince} onChange={refresh} />;
  }
  return (
    <Page title="Provider">
      <Loaded of={providers}>
        {() => (
          <Empty icon="cpu" title="You have no provider at this address." text={GONE}>
            <LinkButton href="/providers">Go to Providers</LinkButton>
          </Empty>
        )}
      </Loaded>
    </Page>
  );
}

const GONE = 'It may have been removed, or be somebody else’s.';

interface KnownProps {
  readonly provider: OwnProvider;
  readonly staleSince: number | null;
  readonly onChange: () => Promise<void>;
}

function Known({ provider, staleSince, onChange }: KnownProps) {
  const { route } = useLocation();
  const { name, paused } = provider;
  const switches = useSwitches(provider, onChange);
  const { text } = standingOf(provider);
  const actions = (
    <>
      <Button
        icon={paused ? 'play' : 'pause'}
        busy={switches.isBusy}
        onClick={() => void switches.run(paused ? 'provider.unpause' : 'provider.pause')}
      >
        {paused ? 'Resume for others' : 'Pause for others'}
      </Button>
      <ProviderMenu
        provider={provider}
        onChange={onChange}
        onRemoved={() => route('/providers', true)}
      />
    </>
  );
  const lead = (
    <span class="row">
      <a href="/providers">Providers</a>
      <ProviderState provider={provider} />
      {text}
    </span>
  );
  return (
    <Page title={name} lead={lead} staleSince={staleSince} actions={actions}>
      <ProviderFacts provider={provider} />
      <CardTable gpus={provider.gpus} />
      <ModelServers provider={provider} />
      <ProviderModels provider={provider} />
      <SharingSection title="Sharing" providers={[provider]} />
      {/* At the end: when their charts come, nothing else moves. */}
      <ProviderDay provider={provider} />
      <ProviderUptime provider={provider} />
    </Page>
  );
}

/** The machine, and its current work. */
function ProviderFacts({ provider }: { readonly provider: OwnProvider }) {
  return (
    <div class="columns provider-facts">
      <section class="card">
        <h2>Machine</h2>
        <Facts rows={machineRows(provider)} />
      </section>
      <section class="card">
        <h2>Work</h2>
        <Facts rows={workRows(provider)} />
      </section>
    </div>
  );
}

function machineRows(provider: OwnProvider) {
  const { id, host, agent_version: version, protocol } = provider;
  return [
    // If the GPUs are known, they have their own table.
    ['GPU', provider.gpus.length === 0 ? 'not reported' : null],
    ['Drivers', driversOf(provider)],
    ['System', host && `${host.os} ${host.arch}`],
    ['Agent', version && <AgentVersion version={version} />],
    ['Protocol', protocol],
    ['Id', <CopyText text={id} label="Copy the id" />],
  ] as const;
}

function AgentVersion({ version }: { readonly version: string }) {
  const { agent_version: current } = currentSession().gateway;
  const isBehind = current !== null && compareVersions(version, current) < 0;
  return (
    <>
      {version}
      {isBehind && (
        <>
          {' '}
          <Badge mood="warn">{current} is there</Badge>{' '}
          <CopyText text="gateway-agent upgrade" label="Copy the command" />
        </>
      )}
    </>
  );
}

function driversOf({ host }: OwnProvider): string | null {
  const drivers = new Set((host?.gpus ?? []).flatMap(({ driver }) => driver ?? []));
  return drivers.size === 0 ? null : [...drivers].join(', ');
}

function workRows(provider: OwnProvider) {
  const { online, slots, busy, served_today: served, last_error: error } = provider;
  return [
    ['Slots busy', online ? <SlotMeter slots={slots} free={Math.max(0, slots - busy)} /> : null],
    ['Served today', formatCount(served)],
    ['Last error', <ProviderError provider={provider} />],
    ['Its model', error && <span class="mono">{error.model}</span>],
    ['Request', error && <CopyText text={error.request_id} label="Copy the request id" />],
    ['Connected', provider.connected_at && <Ago at={provider.connected_at} />],
    ['Last seen', online ? null : <Ago at={provider.last_seen_at} />],
    ['Added', <Ago at={provider.created_at} />],
  ] as const;
}

type Service = OwnProvider['services'][number];

/** A model router may serve hundreds. */
const MODELS_SHOWN = 6;

/** The model servers, as the agent last reported them. */
function ModelServers({ provider }: { readonly provider: OwnProvider }) {
  const { services } = provider;
  return (
    <section class="section after-table">
      <h2>Services</h2>
      {services.length === 0 ? (
        <Empty icon="server" title="It serves nothing yet." text={NOTHING} />
      ) : (
        <Table
          caption={`Services of ${provider.name}`}
          saveAs="services"
          columns={COLUMNS}
          rows={services}
          rowKey={({ service_id: id }) => id}
        />
      )}
    </section>
  );
}

const NOTHING =
  'Start a model server on the machine, then run "gateway-agent services scan --add" there.';

const COLUMNS: readonly Column<Service>[] = [
  {
    head: 'Service',
    isName: true,
    below: ({ service_type: type, models }) => (
      <>
        {typeLabel(type)} <ModelList models={models} />
      </>
    ),
    cell: ({ service_id: id, foreign }) => (
      <span class="provider-state">
        <span class="mono">{id}</span>
        {foreign === false && <Badge title="Its agent takes only your work">yours alone</Badge>}
      </span>
    ),
  },
  { head: 'Type', ifWide: true, cell: ({ service_type: type }) => typeLabel(type) },
  {
    head: 'Models',
    kind: 'grow',
    ifWide: true,
    cell: ({ models }) => <ModelList models={models} />,
  },
  {
    head: 'Slots busy',
    cell: ({ slots, busy }) => <SlotMeter slots={slots} free={Math.max(0, slots - busy)} />,
  },
];

function ModelList({ models }: Pick<Service, 'models'>) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? models : models.slice(0, MODELS_SHOWN);
  const rest = models.length - shown.length;
  return (
    <span class="model-list">
      {models.length === 0 && <span class="soft">none</span>}
      {shown.map(({ id, loaded }) => (
        <span key={id} class="mono" {...(loaded && { title: 'In memory' })}>
          {id}
        </span>
      ))}
      {rest > 0 && (
        <Button small tone="quiet" onClick={() => setWhole(true)}>
          {rest} more
        </Button>
      )}
    </span>
  );
}
