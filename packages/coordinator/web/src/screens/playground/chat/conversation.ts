/** A conversation with one model, or with two side by side, as immutable values. */
import type { Shown } from '../shown-fault.js';
import type { RunFacts } from '../run-facts.js';

export interface Picture {
  readonly name: string;
  /** A `data:` URL: an agent cannot fetch other addresses. */
  readonly url: string;
}

export interface Prompt {
  readonly text: string;
  readonly pictures: readonly Picture[];
}

export interface Answer {
  readonly model: string;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly text: string;
  readonly reasoning: string;
  /** Why the model stopped: `stop`, `length`. */
  readonly finish: string | null;
  readonly facts: RunFacts | null;
  readonly fault: Shown | null;
}

/** Index of the model; there is always a first one. */
export type Side = 0 | 1;

export const SIDES = [0, 1] as const;

export interface Turn {
  readonly id: number;
  readonly prompt: Prompt;
  /** Null if that model was not asked. */
  readonly answers: readonly [Answer | null, Answer | null];
}

export const NO_PROMPT: Prompt = { text: '', pictures: [] };

export function isEmpty({ text, pictures }: Prompt): boolean {
  return text.trim() === '' && pictures.length === 0;
}

export function startedAnswer(model: string): Answer {
  const nothing = { text: '', reasoning: '', finish: null, facts: null, fault: null };
  return { model, state: 'running', ...nothing };
}

/** Replaces one answer. Other turns stay the same objects, and so are not rendered again. */
export function withAnswer(
  turns: readonly Turn[],
  { id, side }: { readonly id: number; readonly side: Side },
  answer: Answer,
): readonly Turn[] {
  return turns.map((turn) => {
    if (turn.id !== id) return turn;
    const [first, second] = turn.answers;
    return { ...turn, answers: side === 0 ? [answer, second] : [first, answer] };
  });
}

/** The turns before this one: a changed prompt deletes those after it. */
export function before(turns: readonly Turn[], id: number): readonly Turn[] {
  const index = turns.findIndex((turn) => turn.id === id);
  return index < 0 ? turns : turns.slice(0, index);
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly ContentPart[];
}

type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

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
  if (pictures.length === 0) return { role: 'user', content: text };
  const shown = pictures.map(({ url }) => ({ type: 'image_url', image_url: { url } }) as const);
  const told = text.trim() === '' ? [] : [{ type: 'text', text } as const];
  return { role: 'user', content: [...told, ...shown] };
}
