import { describe, expect, it } from 'vitest';
import {
  DEFAULT_SETTINGS,
  linkOf,
  settingsOfLink,
} from '../../../packages/coordinator/web/src/screens/playground/chat/chat-settings.js';
import {
  ancestorsOf,
  branchesOf,
  chatRequest,
  hasText,
  interrupted,
  isEmpty,
  merged,
  messagesOf,
  pathOf,
  removed,
  restored,
  showing,
  startedAnswer,
  startedChat,
  titleOf,
  withAnswer,
  withTurn,
} from '../../../packages/coordinator/web/src/screens/playground/chat/conversation.js';
import type {
  Answer,
  Chat,
  Turn,
} from '../../../packages/coordinator/web/src/screens/playground/chat/conversation.js';

const said = (text: string): Answer => ({ ...startedAnswer('tiny'), state: 'done', text });
const prompt = (text: string) => ({ text, pictures: [] });

/** `b<a`: a turn b below a. */
function turnOf(written: string): Turn {
  const [id = '', parent = null] = written.split('<');
  return { id, parent, prompt: prompt(`text ${id}`), answers: [said(`answer ${id}`), null] };
}

function chatOf(...written: readonly string[]): Chat {
  return written.map(turnOf).reduce((chat, turn) => withTurn(chat, turn, 1), startedChat(1));
}

function shownIn(chat: Chat): string {
  return pathOf(chat)
    .map(({ id }) => id)
    .join(' ');
}

const TURNS: readonly Turn[] = [
  { id: 'a', parent: null, prompt: prompt('one'), answers: [said('1'), null] },
  {
    id: 'b',
    parent: 'a',
    prompt: prompt('fails'),
    answers: [{ ...said(''), state: 'failed' }, null],
  },
  { id: 'c', parent: 'b', prompt: prompt('two'), answers: [said('2'), said('zwei')] },
];

describe('what a model is told', () => {
  it('is the system prompt, what was answered, and the new prompt', () => {
    expect(messagesOf(TURNS, prompt('three'), { side: 0, system: 'Be short.' })).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: '1' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: 'three' },
    ]);
  });

  it('is its own side, and the first one’s from before it was asked', () => {
    const messages = messagesOf(TURNS, prompt('three'), { side: 1, system: ' ' });
    const contents = messages.map(({ content }) => content);
    expect(contents).toEqual(['one', '1', 'two', 'zwei', 'three']);
  });

  it('has pictures as parts, no empty text beside them, and none that were not kept', () => {
    const url = 'data:image/png;base64,AAAA';
    const lost = { name: 'large.png', url: '' };
    const pictured = { text: ' ', pictures: [{ name: 'cat.png', url }, lost] };
    expect(isEmpty(pictured)).toBe(false);
    expect(messagesOf([], pictured, { side: 0, system: '' })).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
    ]);
  });

  it('has the parameters that were set, as numbers, and asks for the usage of a stream', () => {
    const settings = { ...DEFAULT_SETTINGS, temperature: '0', topP: 'x', maxTokens: ' 64 ' };
    const { body } = chatRequest('tiny', [], { settings, isStreamed: false });
    expect(body).toEqual({ model: 'tiny', messages: [], temperature: 0, max_tokens: 64 });
    const stopped = { ...DEFAULT_SETTINGS, stop: 'END\n\nHALT' };
    const streamed = chatRequest('tiny', [], { settings: stopped, isStreamed: true }).body;
    expect(streamed).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(streamed['stop']).toEqual(['END', 'HALT']);
  });
});

describe('the tree of a chat', () => {
  // Two versions of b, and two of d below the first of them.
  const tree = chatOf('a', 'b<a', 'd<b', 'd2<b', 'b2<a');

  it('shows the newest branch, and any other one that is chosen, as it was left', () => {
    expect(shownIn(tree)).toBe('a b2');
    expect(shownIn(showing(tree, turnOf('b<a')))).toBe('a b d2');
    expect(branchesOf(tree.turns, turnOf('d<b')).map(({ id }) => id)).toEqual(['d', 'd2']);
    expect(ancestorsOf(tree.turns, turnOf('d2<b')).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it.each([
    ['the first one, which leaves its children', 'a', 'b2'],
    ['one in the middle', 'b', 'a b2'],
    ['the one that is shown, which shows another one', 'b2', 'a b d2'],
    ['one that is not there', 'nothing', 'a b2'],
  ])('loses a turn and gets it back: %s', (_, id, left) => {
    const without = removed(tree, id);
    expect(shownIn(without)).toBe(left);
    const back = restored(without, tree, id);
    expect(back.turns).toEqual(tree.turns);
    const gone = tree.turns.find((turn) => turn.id === id);
    if (gone !== undefined) expect(pathOf(back).map((turn) => turn.id)).toContain(id);
  });

  it('keeps the turns that did not change as the same objects', () => {
    const next = withAnswer(tree, { id: 'b', side: 0 }, { text: 'other' });
    expect(next.turns[0]).toBe(tree.turns[0]);
    expect(next.turns[1]?.answers[0]?.text).toBe('other');
    expect(withAnswer(tree, { id: 'b', side: 1 }, { text: 'x' }).turns[1]).toBe(tree.turns[1]);
  });

  it('has no running answers left that nobody receives', () => {
    const running = { ...turnOf('e<b2'), answers: [startedAnswer('tiny'), null] as const };
    const chat = withTurn(tree, running, 2);
    expect(interrupted(chat, () => true)).toEqual(chat);
    const settled = interrupted(chat, (id) => id === 'other').turns.at(-1);
    expect(settled?.answers[0]?.state).toBe('interrupted');
  });
});

describe('two tabs that change a chat', () => {
  const base = chatOf('a', 'b<a');
  const answer = { id: 'b', side: 0 } as const;

  it('keep what each has added and changed', () => {
    const mine = withAnswer({ ...base, draft: prompt('mine') }, answer, { text: 'mine' });
    const theirs = { ...withTurn(base, turnOf('c<b'), 5), title: 'theirs', revision: 7 };
    const both = merged({ base, mine: mine, theirs: theirs });
    expect(both.turns.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(both.turns[1]?.answers[0]?.text).toBe('mine');
    expect(both).toMatchObject({ draft: prompt('mine'), title: 'theirs', updatedAt: 5 });
    expect(both.revision).toBe(7);
  });

  it('do not overwrite an answer that the other one receives', () => {
    const mine = withTurn(base, turnOf('c<b'), 5);
    const theirs = withAnswer(structuredClone(base), answer, { text: 'theirs so far' });
    const both = merged({ base, mine: mine, theirs: theirs });
    expect(both.turns.map((turn) => turn.answers[0]?.text)).toEqual([
      'answer a',
      'theirs so far',
      'answer c',
    ]);
    const kept = merged({ base, mine, theirs }, (id) => id === 'b');
    expect(kept.turns[1]?.answers).toBe(mine.turns[1]?.answers);
    // Deleting the turn above gives the answer another parent, and leaves its text.
    const above = merged({ base, mine: removed(base, 'a'), theirs }).turns;
    expect(above).toEqual([{ ...theirs.turns[1], parent: null }]);
  });

  it('delete turns for each other, and lose nothing below one that the other has deleted', () => {
    expect(
      merged({ base, mine: removed(base, 'b'), theirs: structuredClone(base) }).turns,
    ).toHaveLength(1);
    expect(
      merged({ base, mine: base, theirs: removed(structuredClone(base), 'b') }).turns,
    ).toHaveLength(1);
    const mine = withTurn(base, turnOf('c<b'), 5);
    const both = merged({ base, mine: mine, theirs: removed(structuredClone(base), 'b') });
    expect(both.turns.map(({ id, parent }) => [id, parent])).toEqual([
      ['a', null],
      ['c', null],
    ]);
  });
});

function titled(text: string, title = ''): string {
  return titleOf({ title, turns: [{ ...turnOf('a'), prompt: prompt(text) }] });
}

describe('the title of a chat', () => {
  it.each([
    ['its first text in one line', '  What\n is \t this? ', 'What is this?'],
    ['cut between characters', '😀'.repeat(80), `${'😀'.repeat(59)}…`],
    ['free of control and direction characters', 'a\u202eb\u0007c\u200fd', 'a b c d'],
    ['a word where there are only pictures', '', 'Pictures'],
  ])('is %s', (_, text, title) => {
    expect(titled(text)).toBe(title);
  });

  it('is the name that it was given', () => {
    expect(titled('first', ' My\nname ')).toBe('My name');
    expect(titleOf({ title: '', turns: [] })).toBe('Draft');
  });

  it('is found by words of the title, prompts and answers', () => {
    const chat = { ...chatOf('a', 'b<a'), title: 'Numbers' };
    for (const words of ['NUMB', 'text B', 'answer a']) expect(hasText(chat, words)).toBe(true);
    expect(hasText(chat, 'nothing')).toBe(false);
  });
});

describe('a link with settings', () => {
  it('brings back the settings that it was made from', () => {
    const settings = {
      ...DEFAULT_SETTINGS,
      system: 'Be & short',
      temperature: '0.2',
      stop: 'A\nB',
    };
    const link = new URL(linkOf('http://gpu.home', 'org/tiny', settings) ?? '');
    expect(link.pathname).toBe('/playground/chat');
    expect(link.searchParams.get('model')).toBe('org/tiny');
    const linked = settingsOfLink(Object.fromEntries(link.searchParams));
    expect(linked).toEqual({ settings, problems: [] });
  });

  it.each([
    [{ temperature: 'hot' }, 'Temperature is "hot"; write 0 to 2.'],
    [{ top_p: '1.5' }, 'Top p is "1.5"; write 0 to 1.'],
    [{ max_tokens: '2.5' }, 'Max tokens is "2.5"; write 1 to 10000000.'],
    [{ presence_penalty: 'Infinity' }, 'Presence penalty is "Infinity"; write -2 to 2.'],
    [{ system: 'x'.repeat(7_000) }, 'system has more than 6000 characters; use a preset.'],
  ])('leaves out what the API would refuse: %#', (query, problem) => {
    const linked = settingsOfLink(query);
    expect(linked).toEqual({ settings: DEFAULT_SETTINGS, problems: [problem] });
  });

  it('sets nothing where the address has a model alone, and is not made too long', () => {
    expect(settingsOfLink({ model: 'tiny', other: '1' })).toBe(null);
    expect(linkOf('http://gpu.home', '', { ...DEFAULT_SETTINGS, system: 'é'.repeat(2_000) })).toBe(
      null,
    );
  });
});
