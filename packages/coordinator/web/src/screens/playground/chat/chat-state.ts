/** The conversation, which this tab keeps over a reload. */
import { currentSession, session } from '../../../api/session.js';
import { change, keptCell } from '../kept-cell.js';
import { DEFAULT_SETTINGS } from './chat-request.js';
import { NO_PROMPT } from './conversation.js';
import type { Prompt } from './conversation.js';
import { readKept, writeKept } from './kept-chat.js';
import type { KeptChat } from './kept-chat.js';

export interface Chat extends KeptChat {
  readonly isAsync: boolean;
  /** What is being typed. */
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

/** Once the screen opens, when it is known whose conversation it would be. */
export function loadChat(): void {
  if (chat.value !== EMPTY) return;
  const kept = readKept(storage()?.getItem(KEY) ?? null, currentSession().member.id);
  if (kept !== null) chat.value = { ...EMPTY, ...kept };
}

export function changeChat(changes: Partial<Chat>): void {
  change(chat, changes);
}

/** When something has been said: not with each token. */
export function keepChat(): void {
  const memberId = session.value?.member.id;
  if (memberId === undefined) return;
  try {
    storage()?.setItem(KEY, writeKept(chat.value, memberId));
  } catch {
    // The browser has no room for it: it lasts until the page is left.
  }
}

// Whoever uses this tab next must not find it.
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
