import { describe, expect, test } from 'vitest';
import { gameMode } from '@inference-gateway/agent/config/config';
import { GameMode } from '@inference-gateway/agent/work/game-mode';
import type { CardReading } from '@inference-gateway/agent/work/game-mode';

const SETTINGS = gameMode({ ignore: ['obs'] });

const AT = 100_000;
/** What CUDA takes for a program that has allocated nothing: on an H100 with driver 580. */
const CONTEXT_MIB = 518;
const GAME = { pid: 1, name: 'game', usePercent: null, memoryMib: null };

/** By default none of the gateway's work has run for long, and no program uses the card. */
function readingAt(at: number, { cards = [load(0)], ...facts }: Partial<CardReading> = {}) {
  return { at, strangers: [], processes: [], idleSince: 0, ...facts, cards: [...cards] };
}

function load(usePercent: number | null) {
  return { usePercent, memoryUsedMib: null, temperatureC: null, powerWatts: null };
}

/** What is said after these readings, one every 400 ms. */
function verdict(...readings: readonly Partial<CardReading>[]) {
  const mode = new GameMode(SETTINGS);
  let at = AT;
  for (const reading of readings) mode.see(readingAt((at += 400), reading));
  return mode.intruderAt(at);
}

const stranger = (facts: object): Partial<CardReading> => ({ strangers: [{ ...GAME, ...facts }] });
const idle = (cards: readonly (number | null)[], facts: Partial<CardReading> = {}) => ({
  cards: cards.map(load),
  strangers: null,
  ...facts,
});

/** What is seen twice, and by which program the card is then said to be in use. */
const BUSY: readonly (readonly [string, Partial<CardReading>, string | null])[] = [
  ['a program that computes', stranger({ usePercent: 5 }), 'game'],
  ['a program that holds memory', stranger({ memoryMib: 1_025 }), 'game'],
  ['it, while work of ours runs', { ...stranger({ memoryMib: 4_000 }), idleSince: null }, 'game'],
  ['a program without a name', stranger({ name: null, memoryMib: 4_000 }), null],
  ['a desktop that draws much', stranger({ name: 'gnome-shell', usePercent: 21 }), 'gnome-shell'],
  ['load, processes unknown', idle([21]), null],
  ['load of a second card', idle([null, 80]), null],
  ['load, and no stranger in sight', idle([21], { strangers: [] }), null],
  ['load 2 s after our last work', idle([90], { idleSince: AT - 2_001 + 400 }), null],
];

describe('seen twice in a row it is busy:', () => {
  test.each(BUSY)('%s', (_, reading, program) => {
    expect(verdict(reading, reading)).toEqual({ program });
    expect(verdict(reading)).toBeNull();
    expect(verdict(reading, {}, reading)).toBeNull();
  });
});

const FREE: readonly (readonly [string, Partial<CardReading>])[] = [
  ['nothing', {}],
  ['nothing that is known', { cards: [load(null)], strangers: null }],
  ['no card', { cards: [], strangers: null }],
  ['a program that keeps its window', stranger({ usePercent: 4, memoryMib: 1_024 })],
  ['a program of which nothing is told', stranger({})],
  ['a program that has only opened CUDA', stranger({ usePercent: 0, memoryMib: CONTEXT_MIB })],
  ['a desktop with much memory', stranger({ name: 'Xorg', usePercent: 20, memoryMib: 3_000 })],
  ['a program that does not count', stranger({ name: 'obs', usePercent: 90, memoryMib: 3_000 })],
  ['load up to the limit', idle([20])],
  ['load of our own work', idle([100], { idleSince: null })],
  ['load right after it', idle([100], { idleSince: AT })],
];

describe('it stays free:', () => {
  test.each(FREE)('%s', (_, reading) => {
    expect(verdict(reading, reading, reading)).toBeNull();
  });
});

test('one list that is told twice is no second sign of use, but one of memory', () => {
  const processes = [GAME];
  const computing = { ...stranger({ usePercent: 90 }), processes };
  expect(verdict(computing, computing, computing)).toBeNull();
  expect(verdict(computing, { ...computing, processes: [GAME] })).toEqual({ program: 'game' });
  const playing = { ...stranger({ memoryMib: 4_000 }), processes };
  expect(verdict(playing, playing)).toEqual({ program: 'game' });
});

test('two signs in a row of different kinds count', () => {
  expect(verdict(idle([90]), stranger({ usePercent: 40 }))).toEqual({ program: 'game' });
});

function busy(): GameMode {
  const mode = new GameMode(SETTINGS);
  for (const at of [AT, AT + 400]) mode.see(readingAt(at, stranger({ usePercent: 40 })));
  return mode;
}

describe('once it is busy', () => {
  test('it is free 60 s after the last sign', () => {
    const mode = busy();
    mode.see(readingAt(AT + 60_399));
    expect(mode.intruderAt(AT + 60_399)).toEqual({ program: 'game' });
    expect(mode.intruderAt(AT + 60_400)).toBeNull();
  });

  test('one sign is enough to keep it, and a load does not hide the name', () => {
    const mode = busy();
    mode.see(readingAt(AT + 30_000));
    mode.see(readingAt(AT + 30_400, idle([90])));
    expect(mode.intruderAt(AT + 90_399)).toEqual({ program: 'game' });
    expect(mode.intruderAt(AT + 90_400)).toBeNull();
  });

  test('the program that is named is the last one seen', () => {
    const mode = busy();
    mode.see(readingAt(AT + 800, stranger({ name: 'other', usePercent: 40 })));
    expect(mode.intruderAt(AT + 800)).toEqual({ program: 'other' });
  });

  test('it takes two signs again when it has been free', () => {
    const mode = busy();
    mode.see(readingAt(AT + 70_000));
    mode.see(readingAt(AT + 70_400, stranger({ usePercent: 40 })));
    expect(mode.intruderAt(AT + 70_400)).toBeNull();
  });

  test('a watch that tells nothing any more does not keep it busy for ever', () => {
    expect(busy().intruderAt(AT + 60_401)).toBeNull();
  });
});

test('a load that is told again with news of the processes alone counts once', () => {
  const mode = new GameMode(SETTINGS);
  const loaded = readingAt(AT, idle([90]));
  mode.see(loaded);
  mode.see({ ...loaded, at: AT + 300, strangers: [] });
  expect(mode.intruderAt(AT + 300)).toBeNull();
  mode.see(readingAt(AT + 400, idle([90])));
  expect(mode.intruderAt(AT + 400)).toEqual({ program: null });
});

test('other limits than the usual ones hold', () => {
  const mode = new GameMode({ ...SETTINGS, memoryMib: 2_000, usePercent: 50, ignore: [] });
  const calm = { ...idle([50]), ...stranger({ name: 'obs', memoryMib: 2_000 }) };
  for (const at of [AT, AT + 400, AT + 800]) mode.see(readingAt(at, calm));
  expect(mode.intruderAt(AT + 800)).toBeNull();
  for (const at of [AT, AT + 400]) mode.see(readingAt(at, idle([51])));
  expect(mode.intruderAt(AT + 400)).not.toBeNull();
});
