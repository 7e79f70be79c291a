/**
 * A chat as an immutable tree of turns. A turn is a prompt and the answers to it, of one model or
 * of two side by side. An edited prompt or a regenerated answer is a sibling: a branch.
 */
import type { ApiRequest } from '../call.js';
import type { Shown } from '../run-facts.js';
import type { RunFacts } from '../run-facts.js';
import { DEFAULT_SETTINGS, parametersOf } from './chat-settings.js';
import type { ChatSettings } from './chat-settings.js';

export interface Picture {
  readonly name: string;
  /** A `data:` URL: an agent cannot fetch other addresses. Empty if it was too large to be kept. */
  readonly url: string;
}

export interface Prompt {
  readonly text: string;
  readonly pictures: readonly Picture[];
}

export interface ToolCall {
  readonly name: string;
  /** As the model wrote them: JSON, if it is a good model. */
  readonly arguments: string;
}

export interface Answer {
  readonly model: string;
  /** Interrupted: the tab that received it was closed or reloaded. */
  readonly state: 'running' | 'done' | 'stopped' | 'interrupted' | 'failed';
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** Why the model stopped: `stop`, `length`. */
  readonly finish: string | null;
  readonly facts: RunFacts | null;
  readonly fault: Shown | null;
}

/** Index of the model; there is always a first one. */
export type Side = 0 | 1;

export const SIDES = [0, 1] as const;

export interface Turn {
  readonly id: string;
  /** Null for the first turn of the chat, and for its branches. */
  readonly parent: string | null;
  readonly prompt: Prompt;
  /** Null if that model was not asked. */
  readonly answers: readonly [Answer | null, Answer | null];
}

export interface Chat {
  readonly id: string;
  /** As its member named it. Empty: the beginning of the first prompt. */
  readonly title: string;
  /** Unix ms. */
  readonly createdAt: number;
  /** Unix ms of the last prompt. */
  readonly updatedAt: number;
  /** Grows by one with each time it is saved. */
  readonly revision: number;
  /** A parent stands before its children. */
  readonly turns: readonly Turn[];
  /** The child that is shown, by its parent; `''` is the parent of the first turn. */
  readonly shown: Readonly<Record<string, string>>;
  /** The text and pictures that are not sent yet. */
  readonly draft: Prompt;
  /** Empty: none chosen yet. */
  readonly models: readonly [string, string];
  readonly isCompared: boolean;
  readonly isAsync: boolean;
  readonly settings: ChatSettings;
}

export const NO_PROMPT: Prompt = { text: '', pictures: [] };

const ID_BYTES = 12;

/** `crypto.randomUUID` exists only on secure pages, and many gateways are plain HTTP at home. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** An empty chat, with the models and settings of the one before it. */
export function startedChat(
  now: number,
  like: Partial<Pick<Chat, 'models' | 'isCompared' | 'settings'>> = {},
): Chat {
  const { models = ['', ''], isCompared = false, settings = DEFAULT_SETTINGS } = like;
  const times = { createdAt: now, updatedAt: now, revision: 0 };
  const nothing = { title: '', turns: [], shown: {}, draft: NO_PROMPT, isAsync: false };
  return { id: newId(), ...times, ...nothing, models, isCompared, settings };
}

export function startedAnswer(model: string): Answer {
  const nothing = { text: '', reasoning: '', toolCalls: [], finish: null, facts: null };
  return { model, state: 'running', ...nothing, fault: null };
}

export function isEmpty({ text, pictures }: Prompt): boolean {
  return text.trim() === '' && pictures.length === 0;
}

// The tree.

/** The turns that are shown, the oldest first. */
export function pathOf({ turns, shown }: Pick<Chat, 'turns' | 'shown'>): readonly Turn[] {
  const children = childrenOf(turns);
  const path: Turn[] = [];
  for (let at = ''; ;) {
    const below = children.get(at) ?? [];
    const next = below.find(({ id }) => id === shown[at]) ?? below.at(-1);
    if (next === undefined) return path;
    path.push(next);
    at = next.id;
  }
}

function childrenOf(turns: readonly Turn[]): ReadonlyMap<string, readonly Turn[]> {
  const children = new Map<string, Turn[]>();
  for (const turn of turns) {
    const siblings = children.get(turn.parent ?? '');
    if (siblings === undefined) children.set(turn.parent ?? '', [turn]);
    else siblings.push(turn);
  }
  return children;
}

/** The turns above this one, the oldest first. */
export function ancestorsOf(turns: readonly Turn[], { parent }: Turn): readonly Turn[] {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const above: Turn[] = [];
  for (let turn = byId.get(parent ?? ''); turn !== undefined; turn = byId.get(turn.parent ?? '')) {
    above.unshift(turn);
  }
  return above;
}

/** This turn and its siblings, the oldest first. */
export function branchesOf(turns: readonly Turn[], { parent }: Turn): readonly Turn[] {
  return turns.filter((turn) => turn.parent === parent);
}

export function showing(chat: Chat, { id, parent }: Pick<Turn, 'id' | 'parent'>): Chat {
  return { ...chat, shown: { ...chat.shown, [parent ?? '']: id } };
}

/** Adds a turn and shows it. */
export function withTurn(chat: Chat, turn: Turn, now: number): Chat {
  return showing({ ...chat, turns: [...chat.turns, turn], updatedAt: now }, turn);
}

/** Changes one answer. Other turns stay the same objects, and so are not rendered again. */
export function withAnswer(
  chat: Chat,
  { id, side }: { readonly id: string; readonly side: Side },
  changes: Partial<Answer>,
): Chat {
  const turns = chat.turns.map((turn): Turn => {
    const answer = turn.id === id ? turn.answers[side] : null;
    if (answer === null) return turn;
    const [first, second] = turn.answers;
    const changed = { ...answer, ...changes };
    return { ...turn, answers: side === 0 ? [changed, second] : [first, changed] };
  });
  return { ...chat, turns };
}

/** Without this turn; those below it move up to its parent. */
export function removed(chat: Chat, id: string): Chat {
  const gone = chat.turns.find((turn) => turn.id === id);
  if (gone === undefined) return chat;
  const { parent } = gone;
  const turns = chat.turns
    .filter((turn) => turn !== gone)
    .map((turn) => (turn.parent === id ? { ...turn, parent } : turn));
  const { [id]: below, ...shown } = chat.shown;
  const above = parent ?? '';
  if (shown[above] !== id) return { ...chat, turns, shown };
  const { [above]: _gone, ...others } = shown;
  return { ...chat, turns, shown: below === undefined ? others : { ...others, [above]: below } };
}

/** Puts a removed turn back to where it was in `before`. */
export function restored(chat: Chat, before: Chat, id: string): Chat {
  const index = before.turns.findIndex((turn) => turn.id === id);
  const turn = before.turns[index];
  if (turn === undefined || chat.turns.some((one) => one.id === id)) return chat;
  const below = new Set(before.turns.filter(({ parent }) => parent === id).map((one) => one.id));
  const moved = chat.turns.map((one) => (below.has(one.id) ? { ...one, parent: id } : one));
  const { [id]: child } = before.shown;
  const shown = child === undefined ? chat.shown : { ...chat.shown, [id]: child };
  return showing({ ...chat, shown, turns: moved.toSpliced(index, 0, turn) }, turn);
}

/** Marks the answers that nobody receives any more. */
export function interrupted(chat: Chat, isReceived: (turnId: string) => boolean): Chat {
  const turns = chat.turns.map((turn): Turn => {
    if (!isRunning(turn) || isReceived(turn.id)) return turn;
    return { ...turn, answers: [settle(turn.answers[0]), settle(turn.answers[1])] };
  });
  return { ...chat, turns };
}

function settle(answer: Answer | null): Answer | null {
  return answer?.state === 'running' ? { ...answer, state: 'interrupted' } : answer;
}

export function isRunning({ answers }: Turn): boolean {
  return answers.some((one) => one?.state === 'running');
}

/**
 * Two tabs have changed a chat since `base`. What this tab has changed is its own; the rest is as
 * the other tab left it. Values that did not change are the same objects as in `base`. A turn whose
 * answer this tab receives is its own.
 */
export function merged(
  { base, mine, theirs }: Versions<Chat>,
  isReceived: (turnId: string) => boolean = () => false,
): Chat {
  const known = new Map(base.turns.map((turn) => [turn.id, turn]));
  const own = new Map(mine.turns.map((turn) => [turn.id, turn]));
  const both = theirs.turns.flatMap((turn): readonly Turn[] => {
    const ours = own.get(turn.id);
    // One that this tab does not have was added there, or deleted here.
    if (ours === undefined) return known.has(turn.id) ? [] : [turn];
    const before = known.get(turn.id);
    if (before === undefined) return [ours];
    return [mergedTurn({ base: before, mine: ours, theirs: turn }, isReceived(turn.id))];
  });
  const there = new Set(both.map(({ id }) => id));
  const added = mine.turns.filter((turn) => !there.has(turn.id) && known.get(turn.id) !== turn);
  const all = [...both, ...added];
  const ids = new Set(all.map(({ id }) => id));
  // Where the other tab has deleted the parent, the branch is kept as one of the first turn.
  const turns = all.map((turn) =>
    turn.parent === null || ids.has(turn.parent) ? turn : { ...turn, parent: null },
  );
  const chosen = Object.fromEntries(
    MERGED_FIELDS.map((name) => [name, mine[name] === base[name] ? theirs[name] : mine[name]]),
  );
  return { ...theirs, ...chosen, turns };
}

interface Versions<T> {
  readonly base: T;
  readonly mine: T;
  readonly theirs: T;
}

/** A turn may get another parent in one tab while the other one receives its answers. */
function mergedTurn({ base, mine, theirs }: Versions<Turn>, isReceived: boolean): Turn {
  const isOwn = isReceived || mine.answers !== base.answers;
  if (mine === base && !isOwn) return theirs;
  const parent = mine.parent === base.parent ? theirs.parent : mine.parent;
  return { ...mine, parent, answers: isOwn ? mine.answers : theirs.answers };
}

const MERGED_FIELDS = [
  ...(['title', 'updatedAt', 'shown', 'draft'] as const),
  ...(['models', 'isCompared', 'isAsync', 'settings'] as const),
];

// Titles.

const MAX_TITLE_CHARACTERS = 60;
/** Control characters, and those that change the direction of the text around them. */
// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

export function titleOf({ title, turns }: Pick<Chat, 'title' | 'turns'>): string {
  const [first] = turns;
  const text = shortTitle(title) || shortTitle(first?.prompt.text ?? '');
  if (text !== '') return text;
  return first === undefined ? 'Draft' : 'Pictures';
}

/** One line without control characters. Characters outside the basic plane are not cut in half. */
export function shortTitle(text: string): string {
  // Only the beginning is looked at: a prompt may have megabytes.
  const line = text.slice(0, 1_000).replaceAll(UNSEEN, ' ').replaceAll(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= MAX_TITLE_CHARACTERS) return line;
  return `${characters
    .slice(0, MAX_TITLE_CHARACTERS - 1)
    .join('')
    .trimEnd()}…`;
}

/** Whether the title or any text of the chat has the words, in any case. */
export function hasText(chat: Chat, words: string): boolean {
  const wanted = words.toLowerCase();
  const texts = chat.turns.flatMap(({ prompt, answers }) => [
    prompt.text,
    ...answers.map((answer) => answer?.text ?? ''),
  ]);
  return [titleOf(chat), ...texts].some((text) => text.toLowerCase().includes(wanted));
}

// Requests.

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly ContentPart[];
}

type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** `isStreamed`: the last event contains the usage, from which the speed is computed. */
export function chatRequest(
  model: string,
  messages: readonly Message[],
  { settings, isStreamed }: { readonly settings: ChatSettings; readonly isStreamed: boolean },
): ApiRequest {
  const body = {
    model,
    messages,
    ...parametersOf(settings),
    ...(isStreamed && { stream: true, stream_options: { include_usage: true } }),
  };
  return { endpoint: 'chat', body };
}

/** The messages for the model on that side: the turns that it has answered, and the prompt. */
export function messagesOf(
  turns: readonly Turn[],
  prompt: Prompt,
  { side, system }: { readonly side: Side; readonly system: string },
): readonly Message[] {
  const said = turns.flatMap((turn): Message[] => {
    // Before the second model was chosen, the conversation was that of the first one.
    const answer = turn.answers[side] ?? turn.answers[0];
    // The templates of many models refuse two user messages in a row.
    if (answer === null || answer.text === '') return [];
    return [userMessage(turn.prompt), { role: 'assistant', content: answer.text }];
  });
  const head: Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return [...head, ...said, userMessage(prompt)];
}

function userMessage({ text, pictures }: Prompt): Message {
  const kept = pictures.filter(({ url }) => url !== '');
  if (kept.length === 0) return { role: 'user', content: text };
  const shown = kept.map(({ url }) => ({ type: 'image_url', image_url: { url } }) as const);
  const told = text.trim() === '' ? [] : [{ type: 'text', text } as const];
  return { role: 'user', content: [...told, ...shown] };
}
