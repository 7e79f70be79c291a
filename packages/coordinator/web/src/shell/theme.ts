/** The theme: light, dark, or the system's. It is stored in this browser. */
import { Cell } from '../api/cell.js';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';

export const theme = new Cell<Theme>(read());

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset['theme'];
  else dataset['theme'] = theme.value;
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  applyTheme();
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // If the browser stores nothing, the theme lasts until the page is closed.
  }
}

function read(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}
