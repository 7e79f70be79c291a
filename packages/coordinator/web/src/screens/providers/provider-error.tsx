import { Ago } from '../../ui/text/time.js';
import type { OwnProvider } from './own-providers.js';

/** The provider's last failed request. */
export function ProviderError({ provider }: { readonly provider: OwnProvider }) {
  const { last_error: error } = provider;
  if (error === null) return <span class="soft">none</span>;
  return (
    <span class="provider-state" title={`${error.model}, request ${error.request_id}`}>
      <Ago at={error.at} />
      {error.code !== null && <span class="mono small soft">{error.code}</span>}
    </span>
  );
}
