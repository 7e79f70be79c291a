/**
 * What a reload of this tab would lose, in `sessionStorage`: the id of the chat that is shown, and
 * what was typed or sent so shortly before that IndexedDB does not have it yet.
 */
import { interrupted, withTurn } from './conversation.js';
import type { Chat, Prompt, Turn } from './conversation.js';

const SHOWN_KEY = 'playground-chat';
const UNSAVED_KEY = 'playground-unsaved';

/** Of the JSON; browsers have room for 5 million. Longer chats are left to IndexedDB. */
const MAX_UNSAVED_CHARACTERS = 1_000_000;

interface Unsaved {
  readonly memberId: string;
  /** Only the turns that IndexedDB does not have, and of the draft only its text. */
  readonly chat: Chat;
}

export function shownChatId(): string | null {
  return storage()?.getItem(SHOWN_KEY) ?? null;
}

export function keepShownChatId(id: string): void {
  keep(SHOWN_KEY, id);
}

/** `base`: the chat as IndexedDB has it; null if it does not. */
export function keepUnsaved(memberId: string, now: Chat, base: Chat | null): void {
  const stored = new Set(base?.turns.map(({ id }) => id));
  const turns = now.turns.filter(({ id }) => !stored.has(id));
  const draft = { text: now.draft.text, pictures: [] };
  for (const kept of [turns, turns.map(withoutPictures)]) {
    const unsaved: Unsaved = { memberId, chat: { ...now, draft, turns: kept } };
    const json = JSON.stringify(unsaved);
    if (json.length <= MAX_UNSAVED_CHARACTERS) return keep(UNSAVED_KEY, json);
  }
}

function withoutPictures(turn: Turn): Turn {
  const pictures = turn.prompt.pictures.map((picture) => ({ ...picture, url: '' }));
  return { ...turn, prompt: { ...turn.prompt, pictures } };
}

/** Removes what is kept, and returns it if it is this member's. Its answers were interrupted. */
export function takeUnsaved(memberId: string): Chat | null {
  const json = storage()?.getItem(UNSAVED_KEY) ?? null;
  dropUnsaved();
  if (json === null) return null;
  const unsaved = JSON.parse(json) as Unsaved;
  return unsaved.memberId === memberId ? interrupted(unsaved.chat, () => false) : null;
}

/** Adds the turns that the stored chat does not have. */
export function withUnsaved(stored: Chat, unsaved: Chat, draft: Prompt): Chat {
  const known = new Set(stored.turns.map(({ id }) => id));
  const added = unsaved.turns.filter(({ id }) => !known.has(id));
  if (added.length === 0 && draft.text === stored.draft.text) return stored;
  const next = added.reduce((one, turn) => withTurn(one, turn, unsaved.updatedAt), stored);
  return { ...next, draft };
}

export function dropUnsaved(): void {
  storage()?.removeItem(UNSAVED_KEY);
}

/** At a log-out: the next member who uses this tab must not find it. */
export function clearTabStorage(): void {
  storage()?.removeItem(SHOWN_KEY);
  dropUnsaved();
}

function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** Browsers refuse to store even a short text if site data is blocked. */
function keep(key: string, value: string): void {
  try {
    storage()?.setItem(key, value);
  } catch {
    // Then a reload begins a new chat.
  }
}
