/**
 * The chats that are open in this tab. They are saved while they change, and follow what other tabs
 * of the same member do. If the browser keeps nothing, they go on in memory.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { Fault } from '../../../api/fault.js';
import { currentSession, session } from '../../../api/session.js';
import { toast, toastFault } from '../../../ui/dialog/toasts.js';
import { keptCell } from '../kept-cell.js';
import { ChatDatabase, databaseName, post, whyNotKept } from './chat-db.js';
import type { Head, Told } from './chat-db.js';
import type { Preset } from './chat-settings.js';
import {
  hasText,
  interrupted,
  isEmpty,
  isRunning,
  merged,
  startedChat,
  titleOf,
} from './conversation.js';
import type { Chat } from './conversation.js';
import { clearTabStorage, dropUnsaved, keepShownChatId, keepUnsaved } from './tab-storage.js';
import { shownChatId, takeUnsaved, withUnsaved } from './tab-storage.js';

/** The chat that is shown. */
export const chat = keptCell<Chat>(() => startedChat(SYSTEM_CLOCK.now()));

/** The newest first, with those that the browser could not store. Null until they are known. */
export const heads = keptCell<readonly Head[] | null>(() => null);

export const presets = keptCell<readonly Preset[]>(() => []);

/** Why chats are not kept; null if they are. */
export const trouble = keptCell<string | null>(() => null);

/** The turns whose answers this tab receives. */
export const received = new Set<string>();

interface OpenChat {
  chat: Chat;
  /** As it was last read or written; null if it was never stored. */
  base: Chat | null;
  timer: ReturnType<typeof setTimeout> | null;
  saving: Promise<void> | null;
  /** How long the last write took. */
  writeMs: number;
  /** Unix ms of the last sign of the tab that receives an answer. */
  signAt: number;
  isProbed: boolean;
}

interface Store {
  readonly memberId: string;
  readonly database: ChatDatabase;
  readonly channel: BroadcastChannel;
  readonly opened: Map<string, OpenChat>;
  /** Set at a log-out that erases: nothing is written any more. */
  isErased: boolean;
}

let store: Store | null = null;

/** Called when the screen opens, because the member is known only then. */
export async function loadChats(): Promise<void> {
  const memberId = currentSession().member.id;
  if (store !== null) return;
  const channel = new BroadcastChannel(databaseName(memberId));
  const database = new ChatDatabase(memberId);
  const mine: Store = { memberId, database, channel, opened: new Map(), isErased: false };
  store = mine;
  channel.addEventListener('message', ({ data }) => hear(mine, data as Told));
  const id = shownChatId();
  await Promise.all([
    refreshHeads(),
    refreshPresets(),
    id === null ? null : openChat(id).catch(() => undefined),
  ]);
  restoreUnsaved(mine);
}

session.watch(() => {
  if (session.value !== null) return;
  for (const { timer } of store?.opened.values() ?? []) if (timer !== null) clearTimeout(timer);
  store?.channel.close();
  store?.database.close();
  store = null;
  received.clear();
  clearTabStorage();
});

// Changes of chats.

/** Changes the chat that is shown. */
export function changeChat(fields: Partial<Chat>): void {
  update(chat.value.id, (one) => ({ ...one, ...fields }));
}

/** Changes an open chat and saves it soon. */
export function update(id: string, change: (chat: Chat) => Chat): void {
  const open = openOf(id);
  if (open !== undefined) {
    open.chat = change(open.chat);
    saveSoon(open);
  }
  if (chat.value.id === id) chat.value = open?.chat ?? change(chat.value);
}

export function openedChat(id: string): Chat | undefined {
  return chat.value.id === id ? chat.value : store?.opened.get(id)?.chat;
}

function openOf(id: string): OpenChat | undefined {
  if (store === null) return undefined;
  const known = store.opened.get(id);
  if (known !== undefined || chat.value.id !== id) return known;
  return put(chat.value, null);
}

function put(one: Chat, base: Chat | null): OpenChat {
  const idle = { timer: null, saving: null, writeMs: 0, signAt: 0, isProbed: false };
  const open: OpenChat = { chat: one, base, ...idle };
  store?.opened.set(one.id, open);
  return open;
}

/** Shows an empty chat, with the models and settings of this one. */
export function newChat(like: Partial<Chat> = {}): void {
  const { id, models, isCompared, settings } = chat.value;
  const next = { ...startedChat(SYSTEM_CLOCK.now(), { models, isCompared, settings }), ...like };
  leave(id);
  show(next);
}

/** Throws if it cannot be read. */
export async function openChat(id: string): Promise<void> {
  const mine = store;
  if (mine === null || chat.value.id === id) return;
  const known = mine.opened.get(id);
  const stored = known === undefined ? await mine.database.read(id) : undefined;
  if (mine !== store || (known === undefined && stored === undefined)) return;
  const open = known ?? (stored === undefined ? undefined : put(stored, stored));
  if (open === undefined) return;
  leave(chat.value.id);
  show(open.chat);
  probe(open);
}

function show(next: Chat): void {
  chat.value = next;
  keepShownChatId(next.id);
}

/**
 * Saves a chat. One that is not shown stays open only while its answers are received, or if the
 * browser could not store it.
 */
export function leave(id: string): void {
  const open = store?.opened.get(id);
  if (open === undefined) return;
  void save(open).then(() => {
    const isDone = !open.chat.turns.some(isRunning) && isSaved(open);
    if (chat.value.id !== id && isDone) store?.opened.delete(id);
  });
}

/** Deletes a chat. Resolves to what puts it back. Throws if the browser refuses it. */
export async function deleteChat(id: string): Promise<() => Promise<void>> {
  const mine = store;
  const open = mine?.opened.get(id);
  await open?.saving;
  const gone = open?.chat ?? (await mine?.database.read(id));
  if (open?.timer) clearTimeout(open.timer);
  mine?.opened.delete(id);
  if (chat.value.id === id) newChat();
  if (open === undefined || open.base !== null) await mine?.database.remove(id);
  await tell(id);
  return async () => {
    if (gone === undefined || mine !== store) return;
    const back = put(
      interrupted(gone, () => false),
      null,
    );
    leave(chat.value.id);
    show(back.chat);
    await save(back);
  };
}

/** Stores imported chats. Throws a `Fault`. */
export async function addChats(added: readonly Chat[]): Promise<void> {
  for (const one of added) {
    await explained(store?.database.write(one.id, () => one));
    await tell(one.id);
  }
}

/** Throws if it cannot be read. */
export async function renameChat(id: string, title: string): Promise<void> {
  if (openedChat(id) !== undefined) {
    update(id, (one) => ({ ...one, title }));
    const open = store?.opened.get(id);
    if (open !== undefined) await save(open);
    return;
  }
  const stored = await store?.database.read(id);
  if (stored === undefined) return;
  await store?.database.write(id, (now) => ({ ...(now ?? stored), title }));
  await tell(id);
}

/** The chats of a file. Throws if they cannot be read. */
export async function chatsToExport(id: string | null): Promise<readonly Chat[]> {
  await saveAll();
  if (id === null) return (await explained(store?.database.all())) ?? [];
  const one = openedChat(id) ?? (await store?.database.read(id));
  return one === undefined ? [] : [one];
}

/** The ids of the chats with these words. */
export async function searchChats(words: string): Promise<readonly string[]> {
  const stored = (await store?.database.search(words).catch(() => [])) ?? [];
  const open = [...(store?.opened.values() ?? [])].map((one) => one.chat);
  return [...stored, ...open.filter((one) => hasText(one, words)).map(({ id }) => id)];
}

/** Browsers name their errors for programs only. */
async function explained<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await work;
  } catch (thrown) {
    throw new Fault(whyNotKept(thrown), { code: 'page' });
  }
}

// Saving.

/** Typed text and tokens that come within this time are saved together. */
const MIN_SAVE_MS = 250;
/** Writing a long chat takes at most a tenth of the time. */
const WRITE_SHARE = 10;

function saveSoon(open: OpenChat): void {
  const waitMs = Math.max(MIN_SAVE_MS, open.writeMs * WRITE_SHARE);
  open.timer ??= setTimeout(() => void save(open), waitMs);
}

/** A message that is sent does not wait for more to come. */
export function saveNow(id: string): void {
  const open = store?.opened.get(id);
  if (open !== undefined) void save(open);
}

/** The page may be gone next: IndexedDB may not be written in time, the tab's own storage is. */
export function pageHides(): void {
  const open = store?.opened.get(chat.value.id);
  // Also one that was begun by typing, without being shown before.
  if (open !== undefined) keepShownChatId(open.chat.id);
  if (store === null || open === undefined || isSaved(open)) dropUnsaved();
  else keepUnsaved(store.memberId, open.chat, open.base);
  void saveAll();
}

/** After a reload. A text from before it does not replace what was typed meanwhile. */
function restoreUnsaved(mine: Store): void {
  const unsaved = takeUnsaved(mine.memberId);
  if (unsaved === null || mine !== store) return;
  const { id, draft, turns } = chat.value;
  const isTouched = draft.text !== (mine.opened.get(id)?.base?.draft.text ?? '');
  const next = isTouched ? draft : { ...draft, text: unsaved.draft.text };
  if (id === unsaved.id) return update(id, (one) => withUnsaved(one, unsaved, next));
  const isNew = turns.length === 0 && !isTouched;
  // It was deleted meanwhile.
  if (unsaved.revision > 0) return isNew ? changeChat({ draft: next }) : undefined;
  const back = put(unsaved, null);
  if (isNew) show(back.chat);
  saveSoon(back);
}

export async function saveAll(): Promise<void> {
  await Promise.all([...(store?.opened.values() ?? [])].map(save));
}

async function save(open: OpenChat): Promise<void> {
  if (open.timer !== null) clearTimeout(open.timer);
  open.timer = null;
  // One at a time: the next one starts from what this one has stored.
  await open.saving;
  if (isSaved(open)) return;
  open.saving = write(open).finally(() => (open.saving = null));
  await open.saving;
}

/** An empty chat is not worth storing. */
function isSaved({ chat: now, base }: OpenChat): boolean {
  const { turns, draft, title } = now;
  if (base === null) return turns.length === 0 && isEmpty(draft) && title === '';
  return now === base;
}

async function write(open: OpenChat): Promise<void> {
  const mine = store;
  if (mine === null || mine.isErased) return;
  const { chat: sent, base } = open;
  const startedAt = performance.now();
  try {
    const written = await mine.database.write(sent.id, (stored) => {
      const isForeign = stored !== undefined && stored.revision !== base?.revision;
      const next = isForeign
        ? merged({ base: base ?? stored, mine: sent, theirs: stored }, has)
        : sent;
      return { ...next, revision: (stored?.revision ?? 0) + 1 };
    });
    if (mine !== store) return;
    open.writeMs = performance.now() - startedAt;
    adopt(open, sent, written);
    trouble.value = null;
    await tell(sent.id);
  } catch (thrown) {
    if (mine !== store) return;
    trouble.value = whyNotKept(thrown);
    await refreshHeads();
  }
}

/** Takes over what is stored now, and keeps what this tab has changed since `sent`. */
function adopt(open: OpenChat, sent: Chat, stored: Chat): void {
  const isSame = open.chat === sent;
  open.chat = isSame ? stored : merged({ base: sent, mine: open.chat, theirs: stored }, has);
  open.base = stored;
  if (chat.value.id === stored.id) chat.value = open.chat;
}

async function refreshHeads(): Promise<void> {
  const mine = store;
  if (mine === null) return;
  const stored = await mine.database.heads().catch((thrown: unknown) => {
    if (mine === store) trouble.value = whyNotKept(thrown);
    return [];
  });
  if (mine !== store) return;
  const ids = new Set(stored.map(({ id }) => id));
  const unsaved = [...mine.opened.values()]
    .filter((open) => !ids.has(open.chat.id) && !isSaved(open))
    .map(({ chat: one }) => ({ id: one.id, title: titleOf(one), updatedAt: one.updatedAt }));
  heads.value = [...unsaved, ...stored].toSorted((one, next) => next.updatedAt - one.updatedAt);
}

// Presets.

async function refreshPresets(): Promise<void> {
  const list = await store?.database.presets().catch(() => []);
  if (list !== undefined) presets.value = list;
}

/** Throws a `Fault` at a limit, or the browser's error. */
export async function savePreset(preset: Preset): Promise<void> {
  await explained(store?.database.savePreset(preset));
  await refreshPresets();
  if (store !== null) post(store.channel, { kind: 'presets' });
}

export async function removePreset(name: string): Promise<void> {
  await store?.database.removePreset(name);
  await refreshPresets();
  if (store !== null) post(store.channel, { kind: 'presets' });
}

// Other tabs.

async function tell(id: string): Promise<void> {
  if (store !== null) post(store.channel, { kind: 'changed', id });
  await refreshHeads();
}

function hear(mine: Store, told: Told): void {
  if (mine !== store) return;
  const open = 'id' in told ? mine.opened.get(told.id) : undefined;
  switch (told.kind) {
    case 'changed':
      void refreshHeads();
      if (open !== undefined) void follow(mine, open).catch(toastFault);
      return;
    case 'who':
      if (open?.chat.turns.some(({ id }) => received.has(id)) === true) {
        post(mine.channel, { kind: 'receiving', id: told.id });
      }
      return;
    case 'receiving':
      if (open !== undefined) open.signAt = SYSTEM_CLOCK.now();
      return;
    case 'presets':
      void refreshPresets();
      return;
    case 'erased':
      mine.isErased = true;
  }
}

/** Reads what another tab has stored. */
async function follow(mine: Store, open: OpenChat): Promise<void> {
  const { id } = open.chat;
  await open.saving;
  const stored = await mine.database.read(id);
  if (mine !== store || mine.opened.get(id) !== open || open.saving !== null) return;
  if (stored === undefined) {
    if (open.base === null || open.chat.turns.some(isRunning)) return;
    mine.opened.delete(id);
    if (chat.value.id === id) newChat();
    toast(`“${titleOf(open.chat)}” was deleted in another tab.`);
  } else if (stored.revision !== open.base?.revision) {
    open.chat = merged({ base: open.base ?? stored, mine: open.chat, theirs: stored }, has);
    open.base = stored;
    if (chat.value.id === id) chat.value = open.chat;
    // The other tab may take an answer that this one receives for interrupted.
    if (open.chat.turns.some((turn) => received.has(turn.id))) saveSoon(open);
    probe(open);
  }
}

/** Time for another tab to say that it receives an answer, and until it is asked again. */
const PROBE_MS = 2_000;
const PROBE_AGAIN_MS = 5_000;

/** Answers that run, but that no tab receives, were interrupted. */
function probe(open: OpenChat): void {
  const mine = store;
  const runsElsewhere = (): boolean =>
    open.chat.turns.some((turn) => isRunning(turn) && !received.has(turn.id));
  if (mine === null || open.isProbed || !runsElsewhere()) return;
  open.isProbed = true;
  const askedAt = SYSTEM_CLOCK.now();
  post(mine.channel, { kind: 'who', id: open.chat.id });
  setTimeout(() => {
    open.isProbed = false;
    if (mine !== store || mine.opened.get(open.chat.id) !== open) return;
    if (open.signAt >= askedAt) setTimeout(() => probe(open), PROBE_AGAIN_MS);
    else if (runsElsewhere()) update(open.chat.id, (one) => interrupted(one, has));
  }, PROBE_MS);
}

function has(turnId: string): boolean {
  return received.has(turnId);
}
