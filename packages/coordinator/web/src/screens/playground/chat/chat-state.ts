/** The conversation. It survives a reload of this tab. */
import { currentSession, session } from '../../../api/session.js';
import { change, keptCell } from '../kept-cell.js';
import { DEFAULT_SETTINGS } from './chat-request.js';
import { NO_PROMPT } from './conversation.js';
import type { Prompt } from './conversation.js';
import { readKept, writeKept } from './kept-chat.js';
import type { KeptChat } from './kept-chat.js';

export interface Chat extends KeptChat {
  readonly isAsync: boolean;
  /** The text and pictures that are not sent yet. */
  readonly draft: Prompt;
}

const EMPTY: Chat = {
  turns: [],
  models: ['', ''],
  isCompared: false,
  isAsync: false,
  settings: DEFAULT_SETTINGS,
  draft: NO_PROMPT,
};

const KEY = 'playground-chat';

export const chat = keptCell<Chat>(() => EMPTY);

/** Called when the screen opens, because the member is known only then. */
export function loadChat(): void {
  if (chat.value !== EMPTY) return;
  const kept = readKept(storage()?.getItem(KEY) ?? null, currentSession().member.id);
  if (kept !== null) chat.value = { ...EMPTY, ...kept };
}

export function changeChat(changes: Partial<Chat>): void {
  change(chat, changes);
}

/** Called when an answer has ended, not for each token. */
export function keepChat(): void {
  const memberId = session.value?.member.id;
  if (memberId === undefined) return;
  try {
    storage()?.setItem(KEY, writeKept(chat.value, memberId));
  } catch {
    // The browser has no room for it: the conversation lasts until the page is left.
  }
}

// The next member who uses this tab must not find it.
session.watch(() => {
  if (session.value === null) storage()?.removeItem(KEY);
});

function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
