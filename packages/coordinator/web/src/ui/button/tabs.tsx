import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import './tabs.css';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly text: string }[];
}

/** Parts of a screen, each with its own address. */
export function Tabs({ label, tabs }: TabsProps) {
  const { path } = useLocation();
  const bar = useRef<HTMLElement>(null);
  // If the tab bar scrolls, the open tab is scrolled into view.
  useEffect(() => {
    const open = bar.current?.querySelector('[aria-current]');
    open?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path]);
  return (
    <nav ref={bar} class="tabs" aria-label={label}>
      {tabs.map(({ href, text }) => (
        <a key={href} href={href} {...(path === href && { 'aria-current': 'page' as const })}>
          {text}
        </a>
      ))}
    </nav>
  );
}
