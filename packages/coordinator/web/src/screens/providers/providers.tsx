import { useState } from 'preact/hooks';
import { Button } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Loaded } from '../../ui/table/loaded.js';
import { AddGpu } from './add-gpu.js';
import { JoinTokens } from './join-tokens.js';
import { NoProviders } from './no-providers.js';
import { useOwnProviders } from './own-providers.js';
import { ProviderTable } from './provider-table.js';
import './providers.css';

/** The machines that are one's own. */
export function Providers() {
  const [isAdding, setAdding] = useState(false);
  const providers = useOwnProviders();
  const add = (): void => setAdding(true);
  const actions = (
    <Button tone="primary" icon="plus" onClick={add}>
      Add a GPU
    </Button>
  );
  return (
    <Page title="Providers" lead={LEAD} staleSince={providers.staleSince} actions={actions}>
      <Loaded of={providers}>
        {(own) =>
          own.length === 0 ? (
            <NoProviders onAdd={add} />
          ) : (
            <ProviderTable providers={own} onChange={providers.refresh} />
          )
        }
      </Loaded>
      <JoinTokens />
      {isAdding && <AddGpu onClose={() => setAdding(false)} />}
    </Page>
  );
}

const LEAD = 'Your machines with GPUs. Nobody else uses them until you share something.';
