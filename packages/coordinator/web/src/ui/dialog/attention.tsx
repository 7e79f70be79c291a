import { Icon } from '../button/icon.js';
import { Told } from '../text/told.js';
import './attention.css';

export interface AttentionItem {
  readonly text: string;
  /** The page on which it can be resolved. */
  readonly href: string;
  /** True: somebody has to decide something. False: something is wrong. */
  readonly asks?: boolean;
}

interface AttentionProps {
  /** Undefined while they load: the space of one line is reserved. */
  readonly items: readonly AttentionItem[] | undefined;
  readonly label: string;
  /** Shown if there are no notices: "All is well." */
  readonly calm: string;
}

/** Notices about what somebody has to do or decide. */
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
              <span>
                <Told text={text} />
              </span>
              <Icon name="chevron-right" />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
