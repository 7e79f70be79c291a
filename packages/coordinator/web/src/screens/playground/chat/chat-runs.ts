/** Sends prompts to the models and receives their answers, also while another screen is open. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { asFault } from '../../../api/fault.js';
import { session } from '../../../api/session.js';
import { call } from '../call.js';
import { shownOf } from '../run-facts.js';
import { chat, leave, openedChat, received, saveNow, update } from './chat-state.js';
import {
  SIDES,
  ancestorsOf,
  chatRequest,
  messagesOf,
  newId,
  pathOf,
  startedAnswer,
  withAnswer,
  withTurn,
} from './conversation.js';
import type { Answer, Prompt, Side, Turn } from './conversation.js';
import { streamAnswer } from './stream-answer.js';

/** An answer: its chat, its turn, and the model on that side. */
interface Place {
  readonly chatId: string;
  readonly id: string;
  readonly side: Side;
}

interface Run {
  readonly place: Place;
  readonly controller: AbortController;
}

const running = new Set<Run>();

/** Sends the prompt to all chosen models, after the turns that are shown. */
export function say(prompt: Prompt): void {
  begin(prompt, pathOf(chat.value).at(-1)?.id ?? null);
}

/** Sends another prompt in place of this turn's, as a branch. */
export function sayInstead(turn: Turn, prompt: Prompt): void {
  begin(prompt, turn.parent);
}

function begin(prompt: Prompt, parent: string | null): void {
  const { id: chatId, models, isCompared } = chat.value;
  const second = isCompared ? startedAnswer(models[1]) : null;
  add(chatId, { id: newId(), parent, prompt, answers: [startedAnswer(models[0]), second] });
}

/** Asks again, with the model that is now chosen on that side; the answer is in a branch. */
export function regenerate({ parent, prompt, answers }: Turn, side: Side): void {
  const { id: chatId, models } = chat.value;
  const again = (at: Side): Answer | null => {
    const answer = answers[at];
    if (at === side) return startedAnswer(models[side]);
    // An answer that still runs is received in its own branch only.
    return answer?.state === 'running' ? startedAnswer(answer.model) : answer;
  };
  const both = [again(0), again(1)] as const;
  add(chatId, { id: newId(), parent, prompt, answers: both });
}

/** Runs the request of an answer that has failed again, in its place. */
export function retry({ id, answers }: Turn, side: Side): void {
  const { id: chatId, models } = chat.value;
  const model = answers[side]?.model ?? models[side];
  update(chatId, (one) => withAnswer(one, { id, side }, startedAnswer(model)));
  void run({ chatId, id, side });
}

function add(chatId: string, turn: Turn): void {
  update(chatId, (one) => withTurn(one, turn, SYSTEM_CLOCK.now()));
  saveNow(chatId);
  for (const side of SIDES) {
    if (turn.answers[side]?.state === 'running') void run({ chatId, id: turn.id, side });
  }
}

/** Stops the answers of this chat; of one turn, if it is named. */
export function stop(chatId: string, turnId?: string): void {
  for (const { place, controller } of running) {
    const isMeant = place.chatId === chatId && (turnId === undefined || place.id === turnId);
    if (isMeant) controller.abort();
  }
}

session.watch(() => {
  if (session.value !== null) return;
  for (const { controller } of running) controller.abort();
});

async function run(place: Place): Promise<void> {
  const one: Run = { place, controller: new AbortController() };
  const { signal } = one.controller;
  running.add(one);
  received.add(place.id);
  const write = (changes: Partial<Answer>): void =>
    update(place.chatId, (now) => withAnswer(now, place, changes));
  // Firefox breaks the calls of a page before it leaves the page.
  let isLeaving = false;
  const leaving = (): void => void (isLeaving = true);
  addEventListener('beforeunload', leaving);
  try {
    await streamAnswer((wanted) => call(wanted, signal), requestAt(place), write);
  } catch (thrown) {
    if (signal.aborted) write({ state: 'stopped' });
    else if (isLeaving) write({ state: 'interrupted' });
    else write({ state: 'failed', fault: shownOf(asFault(thrown)) });
  } finally {
    removeEventListener('beforeunload', leaving);
    running.delete(one);
    const isLast = ![...running].some((other) => other.place.id === place.id);
    if (isLast) received.delete(place.id);
    leave(place.chatId);
  }
}

function requestAt({ chatId, id, side }: Place) {
  const current = openedChat(chatId);
  const turn = current?.turns.find((one) => one.id === id);
  const answer = turn?.answers[side];
  if (current === undefined || turn === undefined || !answer) {
    throw new Error('This message was deleted.');
  }
  const { settings, turns } = current;
  const { system } = settings;
  const messages = messagesOf(ancestorsOf(turns, turn), turn.prompt, { side, system });
  return chatRequest(answer.model, messages, { settings, isStreamed: true });
}
