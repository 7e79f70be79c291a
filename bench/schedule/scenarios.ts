/** What is simulated: each is one situation in which one or two of the rules matter. */
import { CARD } from './card.js';
import type { CardSpec, SimulatedCall } from './card.js';
import { seededRandom } from './random.js';
import type { Scenario } from './simulation.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How calls share a card: one after the other, as batching does it, and in between. */
export const SLOWDOWNS = [0.15, 0.5, 1] as const;

/** Two cards, one twice as fast, and callers who each ask again after every answer. */
export function twoSpeeds(slowdown: number, callers: number): Scenario {
  const random = seededRandom(9);
  const fast = { tokensPerSecond: 80, promptTokensPerSecond: 2_000, slowdown };
  let count = 0;
  const ask = (atMs: number): SimulatedCall =>
    call({ atMs, tokens: Math.round(150 + 100 * random()), conversation: `call ${count++}` });
  return {
    cards: [card('fast', fast), card('slow', { slowdown })],
    calls: Array.from({ length: callers }, (_, i) => ask(i * 700)),
    next: (_, endedAt) => ask(endedAt + 1),
    untilMs: 30 * MINUTE,
  };
}

/** Answers a second with the best fixed number of callers on each of two cards. */
export function idealRate({ cards: [first, second], calls }: Scenario): number {
  if (first === undefined || second === undefined) return Number.NaN;
  const splits = Array.from({ length: calls.length + 1 }, (_, onFirst) => onFirst).filter(
    (onFirst) => onFirst <= first.slots && calls.length - onFirst <= second.slots,
  );
  const rates = splits.map(
    (onFirst) => rateOf(first, onFirst) + rateOf(second, calls.length - onFirst),
  );
  return Math.max(...rates);
}

/** One of two cards fails after so long; the other has just enough to do. */
export function failingCard(failsAfterMs: number): Scenario {
  const untilMs = 30 * MINUTE;
  const cards = [card('failing', { failsEvery: 1, failsAfterMs }), card('good', {})];
  return { cards, calls: arrivals({ untilMs, everyMs: 3 * SECOND, tokens: 100 }), untilMs };
}

/** Each third call of one of two equal cards fails, too seldom for a breaker, and late. */
export function flakyCard(): Scenario {
  const untilMs = HOUR;
  const flaky = card('flaky', { failsEvery: 3, failsAfterMs: 10 * SECOND });
  const cards = [flaky, card('good', {})];
  return { cards, calls: arrivals({ untilMs, everyMs: 8 * SECOND }), untilMs };
}

/** A fast card that puts its model out of memory when idle, beside a slow one that never does. */
export function coldCard(): Scenario {
  const untilMs = 4 * HOUR;
  const sleepy = { tokensPerSecond: 80, loadMs: 25 * SECOND, unloadAfterMs: 5 * MINUTE };
  return {
    cards: [{ ...card('sleepy', sleepy), isLoaded: false }, card('awake', { tokensPerSecond: 30 })],
    calls: arrivals({ untilMs, everyMs: 4 * MINUTE }),
    untilMs,
  };
}

/** Two that do so: the faster one loads from a disk, the slower one in a moment. */
export function twoColdCards(): Scenario {
  const untilMs = 4 * HOUR;
  const unloadAfterMs = 2 * MINUTE;
  const disk = card('disk', { tokensPerSecond: 80, loadMs: 40 * SECOND, unloadAfterMs });
  const flash = card('flash', { loadMs: 3 * SECOND, unloadAfterMs });
  const cards = [disk, flash].map((one) => ({ ...one, isLoaded: false }));
  return { cards, calls: arrivals({ untilMs, everyMs: 4 * MINUTE }), untilMs };
}

/** Twelve people talk to three cards in turns, and each prompt includes the conversation so far. */
export function conversations(people = 12): Scenario {
  const random = seededRandom(5);
  const next = (ended: SimulatedCall, endedAt: number): SimulatedCall => {
    const atMs = endedAt + (5 + 20 * random()) * SECOND;
    const said = ended.promptTokens + ended.tokens;
    const [, person = '0', round = '0'] = /person (\d+), (\d+)/.exec(ended.conversation) ?? [];
    if (said > LONGEST_TALK_TOKENS) return firstTurn(Number(person), atMs, Number(round) + 1);
    return { ...ended, atMs, promptTokens: said + 350, sharedTokens: said };
  };
  return {
    cards: ['one', 'two', 'three'].map((id) => card(id, { slots: 3 })),
    calls: Array.from({ length: people }, (_, i) => firstTurn(i, i * 400, 0)),
    next,
    untilMs: 30 * MINUTE,
  };
}

/** Some twelve turns. */
const LONGEST_TALK_TOKENS = 6_800;

function firstTurn(person: number, atMs: number, round: number): SimulatedCall {
  const conversation = `person ${person}, ${round}`;
  return call({ atMs, promptTokens: 800, tokens: 150, conversation });
}

/** After five minutes with a slow card, a fast one is there. */
const NEWCOMER_AT_MS = 5 * MINUTE;
export function newcomer(): Scenario {
  const untilMs = 15 * MINUTE;
  const fast = card('newcomer', { tokensPerSecond: 80, joinsAtMs: NEWCOMER_AT_MS });
  const slow = card('known', { tokensPerSecond: 20 });
  return { cards: [slow, fast], calls: arrivals({ untilMs, everyMs: 20 * SECOND }), untilMs };
}

/** The faster of two cards is slow for ten minutes, as while its owner plays. */
export function slowForAWhile(): Scenario {
  const untilMs = 6 * HOUR;
  const speedAt = (now: number): number => (now < 10 * MINUTE ? 0.1 : 1);
  const played = card('played on', { tokensPerSecond: 80, speedAt });
  const cards = [played, card('steady', { tokensPerSecond: 30 })];
  return { cards, calls: arrivals({ untilMs, everyMs: MINUTE }), untilMs };
}

function card(id: string, change: Partial<CardSpec>): CardSpec {
  return { ...CARD, id, ...change };
}

function call(change: Partial<SimulatedCall>): SimulatedCall {
  return {
    atMs: 0,
    promptTokens: 200,
    sharedTokens: 0,
    tokens: 200,
    conversation: '',
    ...change,
  };
}

/** At random, so often on average. */
function arrivals(
  about: Partial<SimulatedCall> & { readonly untilMs: number; readonly everyMs: number },
): SimulatedCall[] {
  const { untilMs, everyMs, ...change } = about;
  const random = seededRandom(1);
  const calls: SimulatedCall[] = [];
  for (let atMs = 0; atMs < untilMs; atMs += -Math.log(1 - random()) * everyMs) {
    calls.push(call({ conversation: `call ${calls.length}`, ...change, atMs }));
  }
  return calls;
}

/** Answers per second of a card with so many callers who ask again immediately. */
function rateOf({ promptTokensPerSecond, tokensPerSecond, slowdown }: CardSpec, callers: number) {
  if (callers === 0) return 0;
  const { promptTokens, tokens } = call({});
  const seconds = promptTokens / promptTokensPerSecond + tokens / tokensPerSecond;
  return callers / (seconds * (1 + slowdown * (callers - 1)));
}
