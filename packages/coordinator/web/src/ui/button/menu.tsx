import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.js';
import { Icon } from './icon.js';
import './menu.css';

interface MenuProps {
  /** The subject of the actions: "Actions for den-pc". */
  readonly label: string;
  /** Buttons and links. */
  readonly children: ComponentChildren;
}

/** Between the button and its menu, and between the menu and the edge of the window. */
const GAP_PX = 4;

/** Less frequent actions, behind a button with three dots. */
export function Menu({ label, children }: MenuProps) {
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      const details = element.current;
      if (details === null || !details.open) return;
      const isInside = event.target instanceof Node && details.contains(event.target);
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
      if (event instanceof KeyboardEvent ? !isEscape : isInside) return;
      details.open = false;
      if (isEscape) details.querySelector('summary')?.focus();
    };
    // The menu has a fixed position, so scrolling closes it.
    const leave = (): void => {
      if (element.current !== null) element.current.open = false;
    };
    addEventListener('click', close);
    addEventListener('keydown', close);
    addEventListener('scroll', leave, { capture: true, passive: true });
    return () => {
      removeEventListener('click', close);
      removeEventListener('keydown', close);
      removeEventListener('scroll', leave, { capture: true });
    };
  }, []);
  const closeSoon = (): void => {
    const details = element.current;
    if (details === null) return;
    details.open = false;
    // A dialog that opens now will return the focus to a visible element.
    details.querySelector('summary')?.focus();
  };
  return (
    <details class="menu" ref={element} onToggle={() => place(element.current)}>
      <summary class="button quiet small only-icon" aria-label={label} title={label}>
        <Icon name="ellipsis" />
      </summary>
      <div onClick={closeSoon}>{children}</div>
    </details>
  );
}

interface MenuItemProps {
  readonly children: string;
  readonly onClick: () => void;
}

export function MenuItem({ children, onClick }: MenuItemProps) {
  return (
    <Button tone="quiet" onClick={onClick}>
      {children}
    </Button>
  );
}

/**
 * Places the menu below its button, or above it near the bottom of the window. The position is
 * fixed, because a table would clip the menu.
 */
function place(details: HTMLDetailsElement | null): void {
  const list = details?.querySelector<HTMLElement>(':scope > div');
  if (!details?.open || !list) return;
  const { top, bottom, right } = details.getBoundingClientRect();
  const height = list.offsetHeight;
  const isRoomBelow = bottom + GAP_PX + height <= innerHeight;
  list.style.top = `${isRoomBelow ? bottom + GAP_PX : Math.max(GAP_PX, top - GAP_PX - height)}px`;
  list.style.left = `${Math.max(GAP_PX, right - list.offsetWidth)}px`;
}
