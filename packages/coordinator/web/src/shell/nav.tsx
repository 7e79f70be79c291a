import { useLocation } from 'preact-iso';
import { isAdmin } from '../api/session.js';
import { Icon } from '../ui/button/icon.js';

interface Item {
  readonly href: string;
  readonly text: string;
  readonly icon: string;
}

const GROUPS: readonly { readonly title: string; readonly items: readonly Item[] }[] = [
  {
    title: 'Now',
    items: [
      { href: '/', text: 'Home', icon: 'house' },
      { href: '/queue', text: 'Queue', icon: 'activity' },
    ],
  },
  {
    title: 'Use',
    items: [
      { href: '/playground', text: 'Playground', icon: 'message-square' },
      { href: '/models', text: 'Models', icon: 'boxes' },
      { href: '/jobs', text: 'Jobs', icon: 'list-checks' },
      { href: '/batches', text: 'Batches', icon: 'layers' },
      { href: '/library', text: 'Library', icon: 'images' },
      { href: '/usage', text: 'Usage', icon: 'chart-column' },
    ],
  },
  {
    title: 'Share',
    items: [
      { href: '/providers', text: 'Providers', icon: 'cpu' },
      { href: '/network', text: 'Network', icon: 'users' },
    ],
  },
];

const MORE: readonly Item[] = [
  { href: '/settings/token', text: 'Settings', icon: 'settings' },
  { href: '/docs', text: 'Docs', icon: 'book-open' },
];
const ADMIN: Item = { href: '/admin', text: 'Admin', icon: 'shield' };

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
