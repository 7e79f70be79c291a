import { useEffect } from 'preact/hooks';
import { useMy } from '../../api/commands.js';
import { Loaded } from '../../ui/table/loaded.js';
import type { OwnProvider } from './own-providers.js';
import { Uptime } from './uptime.js';

const EVERY_MS = 60_000;

export function ProviderUptime({ provider }: { readonly provider: OwnProvider }) {
  const shown = useMy('provider.show', { provider: provider.id }, { everyMs: EVERY_MS });
  useEffect(() => void shown.refresh(), [provider.connected_at]);
  return (
    <section class="section after-table">
      <h2>Last 30 days</h2>
      <Loaded of={shown} rows={2}>
        {({ uptime }) => <Uptime uptime={uptime} />}
      </Loaded>
    </section>
  );
}
