/**
 * The command palette: screens, actions, models, jobs and keys in one list, found by parts of their
 * names. Loaded when it is first opened.
 */
import { useLocation } from 'preact-iso';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { ModelResource } from '../../../src/http/inference/models.js';
import { useMy } from '../api/commands.js';
import { JOBS } from '../api/jobs.js';
import type { Job } from '../api/jobs.js';
import { CONSOLE } from '../api/request.js';
import { isAdmin } from '../api/session.js';
import { useSnapshot } from '../api/snapshot.js';
import { Icon } from '../ui/button/icon.js';
import { Dialog } from '../ui/dialog/dialog.js';
import { statusLabel, typeLabel } from '../ui/text/labels.js';
import { workName } from '../ui/work/work-name.js';
import { screensFor } from './nav.js';
import { byId, matching } from './palette-match.js';
import type { Entry } from './palette-match.js';
import { theme } from './preferences.js';
import { takeTyped } from './shortcuts.js';
import './palette.css';

/** Rows of the list: what is further down is found by typing more. */
const MAX_SHOWN = 40;

/** Jobs that the palette knows: the latest. The Jobs screen has all. */
const MAX_JOBS = 50;

/** What the lists held when the palette was opened is good enough. */
const ONCE = { everyMs: null };

interface PaletteProps {
  readonly onClose: () => void;
  readonly onHelp: () => void;
  readonly onLogOut: () => void;
}

export function Palette({ onClose, ...own }: PaletteProps) {
  const { route } = useLocation();
  const entries = useEntries(own);
  const [typed, setTyped] = useState(takeTyped);
  const found = useMemo(() => {
    const listed = matching(entries, typed);
    return [...listed, ...(listed.length === 0 ? byId(typed) : [])].slice(0, MAX_SHOWN);
  }, [entries, typed]);
  const [at, setAt] = useState(0);
  const current = Math.min(at, found.length - 1);
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    if (typeof entry.opens === 'string') route(entry.opens);
    else entry.opens();
  };
  const press = (event: KeyboardEvent): void => {
    const next = moved(event.key, current, found.length);
    if (next !== null) setAt(next);
    else if (event.key === 'Enter' && !event.isComposing) choose(found[current]);
    else return;
    event.preventDefault();
  };
  const type = (text: string): void => {
    setTyped(text);
    setAt(0);
  };
  return (
    <Dialog title="Go to" shape="palette" onClose={onClose}>
      <Search {...{ typed, type, press, found, current, choose }} />
    </Dialog>
  );
}

interface SearchProps {
  readonly typed: string;
  readonly type: (text: string) => void;
  readonly press: (event: KeyboardEvent) => void;
  readonly found: readonly Entry[];
  readonly current: number;
  readonly choose: (entry: Entry) => void;
}

/** A combobox whose list is always open (WAI-ARIA, list autocomplete with manual selection). */
function Search({ typed, type, press, found, current, choose }: SearchProps) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current, found]);
  return (
    <>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={id}
        {...(found.length > 0 && { 'aria-activedescendant': `${id}-${current}` })}
        autocomplete="off"
        spellcheck={false}
        placeholder="A screen, model, job, key or action"
        value={typed}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={press}
      />
      <ul class="palette-list" id={id} role="listbox" aria-label="Found" ref={list}>
        {found.map((entry, index) => (
          <li
            key={entry.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => choose(entry)}
          >
            <Icon name={entry.icon} />
            <span class="palette-text" dir="auto">
              {entry.text}
            </span>
            <span class="soft small">{entry.kind}</span>
          </li>
        ))}
      </ul>
      <p class="palette-foot soft small" role="status">
        {found.length === 0 ? 'Nothing here has that name.' : ''}
      </p>
    </>
  );
}

/** The new row; null if the key moves nothing. */
function moved(key: string, current: number, count: number): number | null {
  if (count === 0) return null;
  if (key === 'ArrowDown') return (current + 1) % count;
  if (key === 'ArrowUp') return (current + count - 1) % count;
  return null;
}

/** Actions of the frame. */
type Own = Omit<PaletteProps, 'onClose'>;

function useEntries(own: Own): readonly Entry[] {
  const models = useSnapshot<{ readonly data: readonly ModelResource[] }>(
    `${CONSOLE}/models`,
    ONCE,
  ).data;
  const jobs = useSnapshot<{ readonly data: readonly Job[] }>(
    `${JOBS}?limit=${MAX_JOBS}`,
    ONCE,
  ).data;
  const keys = useMy('key.list', {}, ONCE).data;
  const providers = useMy('provider.list', {}, ONCE).data;
  return useMemo(
    () => [
      ...screens(),
      ...actions(own),
      ...(models?.data ?? []).map(modelEntry),
      ...(providers ?? []).map(({ id, name }) => ({
        id,
        icon: 'cpu',
        text: name,
        kind: 'Provider',
        opens: `/providers/${id}`,
      })),
      ...(keys ?? [])
        .filter(({ state }) => state !== 'revoked')
        .map(({ id, name, prefix }) => ({
          id,
          icon: 'key-round',
          text: name,
          words: prefix,
          kind: 'API key',
          opens: '/settings/token',
        })),
      ...(jobs?.data ?? []).map(jobEntry),
      ...TABS.map(screenEntry),
    ],
    [models, jobs, keys, providers],
  );
}

function screens(): readonly Entry[] {
  const frame = screensFor(isAdmin()).map(({ href, text, icon }) => ({ href, text, icon }));
  return [...frame, ...PARTS, ...(isAdmin() ? ADMIN_PARTS : [])].map(screenEntry);
}

function screenEntry(screen: Omit<Entry, 'id' | 'kind' | 'opens'> & { readonly href: string }) {
  const { href, ...entry } = screen;
  return { ...entry, kind: 'Screen', id: href, opens: href };
}

const SECURITY = 'password passkey sessions log-ins browsers';

const PARTS = [
  { href: '/settings/token', text: 'API keys', words: 'token', icon: 'key-round' },
  { href: '/settings/aliases', text: 'Aliases', icon: 'settings' },
  { href: '/settings', text: 'Profile', words: 'name excerpts first steps', icon: 'settings' },
  { href: '/settings/security', text: 'Security', words: SECURITY, icon: 'settings' },
  {
    href: '/settings/notifications',
    text: 'Notifications',
    words: 'atom feed browser',
    icon: 'bell',
  },
  {
    href: '/settings/appearance',
    text: 'Appearance',
    words: 'theme dark shortcuts',
    icon: 'settings',
  },
];

/** After all others while nothing is typed. */
const TABS = [
  ...['Image', 'Speech', 'Transcribe', 'Voice', 'Music', 'Video'].map((kind) => ({
    href: `/playground/${kind.toLowerCase()}`,
    text: `Playground: ${kind}`,
    icon: 'message-square',
  })),
  { href: '/docs/endpoints', text: 'Docs: Endpoints', words: 'reference', icon: 'book-open' },
  { href: '/docs/errors', text: 'Docs: Errors', words: 'codes', icon: 'book-open' },
];

const ADMIN_PARTS = ['Members', 'Invites', 'Networks', 'Providers', 'Aliases', 'Jobs', 'Keys']
  .concat('Usage', 'Audit', 'System')
  .map((part) => ({
    href: `/admin/${part === 'Members' ? 'users' : part.toLowerCase()}`,
    text: `Admin: ${part}`,
    icon: 'shield',
  }));

function actions({ onHelp, onLogOut }: Own): readonly Entry[] {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const isNowDark = theme.value === 'system' ? isDark : theme.value === 'dark';
  const next = isNowDark ? 'light' : 'dark';
  const all: readonly Omit<Entry, 'id' | 'kind'>[] = [
    { text: 'Create an API key', words: 'token', icon: 'plus', opens: '/settings/token?new=1' },
    { text: 'Create a batch', icon: 'plus', opens: '/batches?new=1' },
    { text: 'Add a GPU', words: 'provider device', icon: 'plus', opens: '/providers?new=1' },
    { text: 'Invite and share', words: 'network', icon: 'user-plus', opens: '/network?invite=1' },
    { text: `Use the ${next} theme`, icon: 'settings', opens: () => void (theme.value = next) },
    { text: 'Show keyboard shortcuts', icon: 'info', opens: onHelp },
    { text: 'Log out', icon: 'log-out', opens: onLogOut },
  ];
  return all.map((action) => ({ id: action.text, kind: 'Action', ...action }));
}

function modelEntry({ id, service_type: type }: ModelResource): Entry {
  const kind = `${typeLabel(type)} model`;
  const opens = `/models?search=${encodeURIComponent(id)}`;
  return { id: `${type} ${id}`, icon: 'boxes', text: id, kind, opens };
}

function jobEntry(job: Job): Entry {
  const { id, model, status } = job;
  const kind = `${statusLabel(status)} job`;
  const words = `${model} ${id}`;
  return { id, icon: 'list-checks', text: workName(job), words, kind, opens: `/jobs/${id}` };
}
