/** Light, dark, or as the system has it: kept in this browser. */
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
    // A browser that keeps nothing still shows it until it is closed.
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
