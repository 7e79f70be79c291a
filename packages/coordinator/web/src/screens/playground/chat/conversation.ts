/** A conversation with one model, or with two beside each other, and how it goes on. */
import type { Shown } from '../shown-fault.js';
import type { RunFacts } from '../run-facts.js';

export interface Picture {
  readonly name: string;
  /** A `data:` URL: nothing else reaches a home machine. */
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
  /** Why the model ended: `stop`, `length`. */
  readonly finish: string | null;
  readonly facts: RunFacts | null;
  readonly fault: Shown | null;
}

/** Which of the two models; there is always a first. */
export type Side = 0 | 1;

export const SIDES = [0, 1] as const;

export interface Turn {
  readonly id: number;
  readonly prompt: Prompt;
  /** None if that model was not asked. */
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

/** With one answer changed; other turns stay the same objects, and so are not drawn anew. */
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

/** Those before it: what is said anew forgets what followed. */
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

/** What the model on that side is told: the turns that it has answered, and the prompt. */
export function messagesOf(
  turns: readonly Turn[],
  prompt: Prompt,
  { side, system }: { readonly side: Side; readonly system: string },
): readonly Message[] {
  const said = turns.flatMap((turn): Message[] => {
    // Before the second model came in, the conversation was the first one's.
    const answer = turn.answers[side] ?? turn.answers[0];
    // Two prompts in a row are refused by many models' templates.
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
