import { isAdmin } from '../api/session.js';
import { Dialog } from '../ui/dialog/dialog.js';
import { screensFor } from './nav.js';
import './shortcut-list.css';

const GENERAL = [
  { keys: ['Ctrl', 'K'], text: 'Search screens, models, jobs, keys and actions' },
  { keys: ['/'], text: 'Search on this screen' },
  { keys: ['?'], text: 'This list' },
  { keys: ['Esc'], text: 'Close a dialog or a menu' },
  { keys: ['Enter'], text: 'Send a message of the playground' },
  { keys: ['Shift', 'Enter'], text: 'New line of the message' },
  { keys: ['←', '→'], text: 'Move in a chart or between large pictures' },
];

/** Loaded when it is first opened. */
export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const screens = screensFor(isAdmin()).map(({ key, text }) => ({ keys: ['g', key], text }));
  return (
    <Dialog title="Keyboard shortcuts" shape="wide" onClose={onClose}>
      <dl class="shortcuts">
        {[...GENERAL, ...screens].map(({ keys, text }) => (
          <div key={text}>
            <dt>{text}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="soft small">
        On a Mac, <kbd>⌘</kbd> stands for Ctrl. Single keys can be switched off in{' '}
        <a href="/settings/appearance" onClick={onClose}>
          Settings, Appearance
        </a>
        .
      </p>
    </Dialog>
  );
}
