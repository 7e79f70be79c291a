/** Serializes a conversation for the browser's session storage, which holds about 5 MB. */
import type { ChatSettings } from './chat-request.js';
import type { Answer, Turn } from './conversation.js';

/** The stored part of the state. */
export interface KeptChat {
  readonly turns: readonly Turn[];
  /** Empty: none chosen yet. */
  readonly models: readonly [string, string];
  readonly isCompared: boolean;
  readonly settings: ChatSettings;
}

const MAX_TURNS = 100;
/** UTF-16 takes two bytes per character. */
const MAX_CHARACTERS = 2_000_000;

export function writeKept(chat: KeptChat, memberId: string): string {
  const { models, isCompared, settings } = chat;
  let turns = chat.turns.slice(-MAX_TURNS).map(settle);
  let text = JSON.stringify({ memberId, models, isCompared, settings, turns });
  // If it is too long, first the pictures are dropped, then the oldest turns.
  if (text.length > MAX_CHARACTERS) turns = turns.map(withoutPictures);
  for (;;) {
    text = JSON.stringify({ memberId, models, isCompared, settings, turns });
    if (text.length <= MAX_CHARACTERS || turns.length === 0) return text;
    turns = turns.slice(Math.ceil(turns.length / 4));
  }
}

/** Null if there is none, or if it is another member's. */
export function readKept(text: string | null, memberId: string): KeptChat | null {
  if (text === null) return null;
  try {
    const kept = JSON.parse(text) as KeptChat & { readonly memberId: string };
    const isWhole = Array.isArray(kept.turns) && Array.isArray(kept.models);
    if (kept.memberId !== memberId || !isWhole) return null;
    const { turns, models, isCompared, settings } = kept;
    return { turns, models, isCompared, settings };
  } catch {
    return null;
  }
}

/** An answer that was running when the page was left has stopped. */
function settle(turn: Turn): Turn {
  const [first, second] = turn.answers;
  return { ...turn, answers: [settled(first), settled(second)] };
}

function settled(answer: Answer | null): Answer | null {
  return answer?.state === 'running' ? { ...answer, state: 'stopped' } : answer;
}

function withoutPictures(turn: Turn): Turn {
  return { ...turn, prompt: { ...turn.prompt, pictures: [] } };
}
