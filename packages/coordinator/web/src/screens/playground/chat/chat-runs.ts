/** Sends prompts to the models and stores their answers, also while another screen is open. */
import { asFault } from '../../../api/fault.js';
import { session } from '../../../api/session.js';
import { call } from '../call.js';
import { shownOf } from '../shown-fault.js';
import { chatRequest } from './chat-request.js';
import { changeChat, chat, keepChat } from './chat-state.js';
import { before, messagesOf, startedAnswer, withAnswer } from './conversation.js';
import type { Answer, Prompt, Side, Turn } from './conversation.js';
import { streamAnswer } from './stream-answer.js';

interface Place {
  readonly id: number;
  readonly side: Side;
}

const running = new Map<string, AbortController>();

/** Sends the prompt to all chosen models. */
export function say(prompt: Prompt): void {
  const { turns, models, isCompared } = chat.value;
  const id = (turns.at(-1)?.id ?? 0) + 1;
  const second = isCompared ? startedAnswer(models[1]) : null;
  const turn: Turn = { id, prompt, answers: [startedAnswer(models[0]), second] };
  changeChat({ turns: [...turns, turn] });
  void run({ id, side: 0 });
  if (isCompared) void run({ id, side: 1 });
}

/** Replaces this turn's prompt, and deletes all later turns. */
export function sayInstead(id: number, prompt: Prompt): void {
  forget(id);
  say(prompt);
}

/** Asks again, with the model that is now chosen on that side. */
export function regenerate({ id, side }: Place): void {
  const turn = chat.value.turns.find((one) => one.id === id);
  if (turn === undefined) return;
  stopAfter(id);
  const answer = startedAnswer(chat.value.models[side]);
  const turns = [...before(chat.value.turns, id), turn];
  changeChat({ turns: withAnswer(turns, { id, side }, answer) });
  void run({ id, side });
}

export function stopAll(): void {
  for (const controller of running.values()) controller.abort();
}

export function newChat(): void {
  stopAll();
  changeChat({ turns: [] });
  keepChat();
}

session.watch(() => {
  if (session.value === null) stopAll();
});

function forget(id: number): void {
  stopAfter(id - 1);
  changeChat({ turns: before(chat.value.turns, id) });
}

function stopAfter(id: number): void {
  for (const [key, controller] of running) if (Number(key.split(' ')[0]) > id) controller.abort();
}

async function run(place: Place): Promise<void> {
  const key = `${place.id} ${place.side}`;
  running.get(key)?.abort();
  const controller = new AbortController();
  running.set(key, controller);
  const { signal } = controller;
  const write = (changes: Partial<Answer>): void => {
    // A newer run of the same answer writes there now.
    if (running.get(key) === controller) writeAnswer(place, changes);
  };
  try {
    await streamAnswer((wanted) => call(wanted, signal), requestAt(place), write);
  } catch (thrown) {
    if (signal.aborted) write({ state: 'stopped' });
    else write({ state: 'failed', fault: shownOf(asFault(thrown)) });
  } finally {
    if (running.get(key) === controller) running.delete(key);
    keepChat();
  }
}

function requestAt({ id, side }: Place) {
  const { turns, settings } = chat.value;
  const turn = turns.find((one) => one.id === id);
  const answer = turn?.answers[side];
  if (turn === undefined || !answer) throw new Error('This turn has gone.');
  const { system } = settings;
  const messages = messagesOf(before(turns, id), turn.prompt, { side, system });
  return chatRequest(answer.model, messages, { settings, isStreamed: true });
}

function writeAnswer(place: Place, changes: Partial<Answer>): void {
  const { turns } = chat.value;
  const answer = turns.find(({ id }) => id === place.id)?.answers[place.side];
  if (answer) changeChat({ turns: withAnswer(turns, place, { ...answer, ...changes }) });
}
