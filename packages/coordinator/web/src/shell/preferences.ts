/** What a person prefers in this browser. It is stored there, for all members who use it. */
import { Cell } from '../api/cell.js';

/** The first choice is the default. If the browser stores nothing, a choice lasts for this page. */
function preference<T extends string>(key: string, choices: readonly [T, ...T[]]): Cell<T> {
  const cell = new Cell<T>(choices.find((choice) => choice === read(key)) ?? choices[0]);
  cell.watch(() => {
    try {
      localStorage.setItem(key, cell.value);
    } catch {
      // As in a private window, or where the space is used up.
    }
  });
  return cell;
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export const theme = preference('theme', ['system', 'light', 'dark']);

/** Shortcuts of a single key (WCAG 2.1.4: dictation sends such keys without meaning to). */
export const singleKeys = preference('single-keys', ['on', 'off']);

/** Of the browser, while the page is hidden; only where the browser permits them, too. */
export const notifications = preference('notifications', ['off', 'on']);

/** Null where the browser has no notifications. */
export function notificationPermission(): NotificationPermission | null {
  return 'Notification' in window && isSecureContext ? Notification.permission : null;
}

theme.watch(applyTheme);

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset['theme'];
  else dataset['theme'] = theme.value;
}
