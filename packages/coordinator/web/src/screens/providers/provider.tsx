import { useLocation, useRoute } from 'preact-iso';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { SharingSection } from '../sharing/sharing-section.js';
import { CardTable } from './card-table.js';
import { ModelServers } from './model-servers.js';
import { standingOf, useOwnProviders } from './own-providers.js';
import type { OwnProvider } from './own-providers.js';
import { ProviderFacts } from './provider-facts.js';
import { ProviderMenu } from './provider-menu.js';
import { ProviderState } from './provider-state.js';
import './providers.css';
import { useSwitches } from './use-switches.js';

/** One of one's own. */
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
      <SharingSection title="Sharing" providers={[provider]} />
    </Page>
  );
}
