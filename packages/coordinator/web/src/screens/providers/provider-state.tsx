import { Badge } from '../../ui/figures/badge.js';
import { Ago } from '../../ui/text/time.js';
import { standingOf } from './own-providers.js';
import type { OwnProvider } from './own-providers.js';

export function ProviderState({ provider }: { readonly provider: OwnProvider }) {
  const { word, mood, text, since = null } = standingOf(provider);
  return (
    <span class="provider-state">
      <Badge dot mood={mood} {...(text !== undefined && { title: text })}>
        {word}
      </Badge>
      {since !== null && (
        <span class="soft small">
          since <Ago at={since} />
        </span>
      )}
    </span>
  );
}
