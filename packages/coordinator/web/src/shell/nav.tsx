import { useLocation } from 'preact-iso';
import { isAdmin } from '../api/session.js';
import { Icon } from '../ui/button/icon.js';

/** A screen, as the sidebar and the command palette list it. */
export interface Item {
  readonly href: string;
  readonly text: string;
  readonly icon: string;
  /** Pressed after `g`, opens it. */
  readonly key: string;
}

const GROUPS: readonly { readonly title: string; readonly items: readonly Item[] }[] = [
  {
    title: 'Now',
    items: [
      { href: '/', text: 'Home', icon: 'house', key: 'h' },
      { href: '/queue', text: 'Queue', icon: 'activity', key: 'q' },
    ],
  },
  {
    title: 'Use',
    items: [
      { href: '/playground', text: 'Playground', icon: 'message-square', key: 'p' },
      { href: '/models', text: 'Models', icon: 'boxes', key: 'm' },
      { href: '/jobs', text: 'Jobs', icon: 'list-checks', key: 'j' },
      { href: '/batches', text: 'Batches', icon: 'layers', key: 'b' },
      { href: '/library', text: 'Library', icon: 'images', key: 'l' },
      { href: '/usage', text: 'Usage', icon: 'chart-column', key: 'u' },
    ],
  },
  {
    title: 'Share',
    items: [
      { href: '/providers', text: 'Providers', icon: 'cpu', key: 'r' },
      { href: '/network', text: 'Network', icon: 'users', key: 'n' },
    ],
  },
];

const MORE: readonly Item[] = [
  { href: '/settings/token', text: 'Settings', icon: 'settings', key: 's' },
  { href: '/docs', text: 'Docs', icon: 'book-open', key: 'd' },
];
const ADMIN: Item = { href: '/admin', text: 'Admin', icon: 'shield', key: 'a' };

/** The screens that the member may open, in the order of the sidebar. */
export function screensFor(isAdministrator: boolean): readonly Item[] {
  const all = [...GROUPS.flatMap(({ items }) => items), ...MORE];
  return isAdministrator ? [...all, ADMIN] : all;
}

/** `onLeave` is called when an entry has been chosen. */
export function Nav({ onLeave }: { readonly onLeave?: () => void }) {
  const more = isAdmin() ? [...MORE, ADMIN] : MORE;
  return (
    <nav class="nav" aria-label="Screens">
      {GROUPS.map(({ title, items }) => (
        <div key={title}>
          <p>{title}</p>
          <Items items={items} {...(onLeave && { onLeave })} />
        </div>
      ))}
      <Items items={more} {...(onLeave && { onLeave })} />
    </nav>
  );
}

function Items({
  items,
  onLeave,
}: {
  readonly items: readonly Item[];
  readonly onLeave?: () => void;
}) {
  const { path } = useLocation();
  return (
    <ul>
      {items.map(({ href, text, icon }) => (
        <li key={href}>
          <a
            href={href}
            onClick={onLeave}
            {...(isPart(path, href) && { 'aria-current': 'page' as const })}
          >
            <Icon name={icon} />
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** `/jobs/01J…` is part of `/jobs`, and every `/settings/…` is part of Settings. */
function isPart(path: string, href: string): boolean {
  const root = href === '/settings/token' ? '/settings' : href;
  return path === root || (root !== '/' && path.startsWith(`${root}/`));
}
