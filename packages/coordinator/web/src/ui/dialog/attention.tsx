import { Icon } from '../button/icon.js';
import './attention.css';

export interface AttentionItem {
  readonly text: string;
  /** The page on which it can be resolved. */
  readonly href: string;
  /** It waits for somebody's word; without this, something is wrong. */
  readonly asks?: boolean;
}

interface AttentionProps {
  /** Undefined while they load: a line is there in any case. */
  readonly items: readonly AttentionItem[] | undefined;
  readonly label: string;
  /** Shown without notices: "All is well." */
  readonly calm: string;
}

/** What somebody should see to, before anything else on a screen. */
export function Attention({ items, label, calm }: AttentionProps) {
  if (items === undefined) return <p class="calm skeleton" />;
  if (items.length === 0) {
    return (
      <p class="calm">
        <Icon name="circle-check" />
        {calm}
      </p>
    );
  }
  return (
    <section aria-label={label}>
      <ul class="attention">
        {items.map(({ text, href, asks = false }) => (
          <li key={`${href} ${text}`}>
            <a href={href} class={asks ? 'asks' : ''}>
              <Icon name={asks ? 'bell' : 'triangle-alert'} />
              <span>{text}</span>
              <Icon name="chevron-right" />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
