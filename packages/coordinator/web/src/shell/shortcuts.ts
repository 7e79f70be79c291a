/** Keyboard shortcuts of the whole page; loaded after the first screen. */
import { isAdmin } from '../api/session.js';
import { screensFor } from './nav.js';
import { singleKeys } from './preferences.js';

/** A second key must follow `g` within this time. */
const SEQUENCE_MS = 1_500;

/** What is typed after Ctrl-K is for the palette, also while its file loads: for this long. */
const PALETTE_MS = 3_000;

let typed: { text: string; until: number } | null = null;

/** What was typed for the palette before it was there. */
export function takeTyped(): string {
  const text = typed?.text ?? '';
  typed = null;
  return text;
}

interface Opened {
  readonly open: (href: string) => void;
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** Listens until the returned function ends it. */
export function startShortcuts({ open, onPalette, onHelp }: Opened): () => void {
  let goneAt = -Infinity;
  const press = (event: KeyboardEvent): void => {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && key === 'k') {
      event.preventDefault();
      typed = isDialogOpen() ? null : { text: '', until: event.timeStamp + PALETTE_MS };
      onPalette();
      return;
    }
    if (isForPalette(event)) return;
    const isOff = singleKeys.value === 'off' || isTyping(event) || isModified(event);
    if (isOff || event.repeat || isDialogOpen()) return;
    const isAfterG = event.timeStamp - goneAt < SEQUENCE_MS;
    goneAt = key === 'g' && !isAfterG ? event.timeStamp : -Infinity;
    if (isAfterG) {
      const screen = screensFor(isAdmin()).find((one) => one.key === key);
      if (screen !== undefined) open(screen.href);
    } else if (key === '?') {
      onHelp();
    } else if (key === '/') {
      focusSearch(event);
    }
  };
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}

function isForPalette(event: KeyboardEvent): boolean {
  if (typed === null) return false;
  if (event.key === 'Escape' || event.timeStamp > typed.until || isDialogOpen()) typed = null;
  else if (event.key.length === 1 && !isModified(event)) {
    event.preventDefault();
    typed.text += event.key;
    return true;
  }
  return false;
}

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest(FIELDS) !== null;
}

const FIELDS = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]';

/** `?` needs Shift on most keyboards. */
function isModified({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}

function focusSearch(event: Event): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  if (field === null) return;
  event.preventDefault();
  field.focus();
  field.select();
}
