import type { MyResult } from '../../api/commands.js';
import { Icon } from '../../ui/icon.js';

type Item = MyResult<'home.show'>['attention'][number];

/** What waits for somebody's word is work; the rest is something wrong. */
const REQUESTS: readonly Item['kind'][] = [
  'devices_waiting',
  'providers_waiting',
  'network_invitation',
];

/** Undefined while it loads: a line is there in any case. */
export function Attention({ items }: { readonly items: readonly Item[] | undefined }) {
  if (items === undefined) return <p class="calm skeleton" />;
  if (items.length === 0) {
    return (
      <p class="calm">
        <Icon name="circle-check" />
        All is well.
      </p>
    );
  }
  return (
    <section aria-label="Needs attention">
      <ul class="attention">
        {items.map(({ kind, text, href }) => (
          <li key={`${kind} ${href} ${text}`}>
            <a href={href} class={REQUESTS.includes(kind) ? 'asks' : ''}>
              <Icon name={REQUESTS.includes(kind) ? 'bell' : 'triangle-alert'} />
              <span>{text}</span>
              <Icon name="chevron-right" />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
