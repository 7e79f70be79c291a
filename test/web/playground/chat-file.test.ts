import { describe, expect, it } from 'vitest';
import {
  readChats,
  writeChats,
} from '../../../packages/coordinator/web/src/screens/playground/chat/chat-file.js';
import {
  startedAnswer,
  startedChat,
  withTurn,
} from '../../../packages/coordinator/web/src/screens/playground/chat/conversation.js';

type Chat = ReturnType<typeof startedChat>;

const NOW = 1_000;
const URL_OF_PICTURE = 'data:image/png;base64,AAAA';

function sample(): Chat {
  const answer = { ...startedAnswer('tiny'), state: 'done', text: 'Hello' } as const;
  const toolCalls = [{ name: 'weather', arguments: '{}' }];
  const pictures = [{ name: 'cat.png', url: URL_OF_PICTURE }];
  const first = { id: 'one', parent: null, prompt: { text: 'Hi', pictures } };
  const second = { id: 'two', parent: 'one', prompt: { text: 'Go on', pictures: [] } };
  const started = startedChat(5, { models: ['tiny', 'sees'], isCompared: true });
  const chat = withTurn(started, { ...first, answers: [{ ...answer, toolCalls }, null] }, 6);
  const running = { ...answer, state: 'running', text: 'Half' } as const;
  return { ...withTurn(chat, { ...second, answers: [answer, running] }, 7), title: 'Mine' };
}

/** The exported file, with a change of its only chat. */
function fileWith(changes: (chat: Record<string, unknown>) => object): string {
  const file = JSON.parse(writeChats([sample()])) as { chats: Record<string, unknown>[] };
  return JSON.stringify({
    ...file,
    chats: file.chats.map((chat) => ({ ...chat, ...changes(chat) })),
  });
}

/** With a change of its second turn. */
function turnWith(changes: object): string {
  return fileWith(({ turns }) => {
    const [first, second] = turns as object[];
    return { turns: [first, { ...second, ...changes }] };
  });
}

describe('chats in a file', () => {
  it('come back with other ids, and with nothing that still runs', () => {
    const before = sample();
    const [after] = readChats(writeChats([before]), NOW);
    expect(after).toMatchObject({
      title: 'Mine',
      createdAt: 5,
      updatedAt: 7,
      models: ['tiny', 'sees'],
      isCompared: true,
      turns: [
        { parent: null, prompt: before.turns[0]?.prompt, answers: [{ state: 'done' }, null] },
        { answers: [{ text: 'Hello' }, { state: 'interrupted', text: 'Half' }] },
      ],
    });
    const ids = [before, after].flatMap((chat) => [
      chat?.id,
      ...(chat?.turns ?? []).map((t) => t.id),
    ]);
    expect(new Set(ids).size).toBe(6);
    expect(after?.turns[1]?.parent).toBe(after?.turns[0]?.id);
    expect(after?.turns[0]?.answers[0]?.toolCalls).toEqual([{ name: 'weather', arguments: '{}' }]);
  });

  it('are not older than they can be', () => {
    const [chat] = readChats(
      fileWith(() => ({ updatedAt: 9_999 })),
      NOW,
    );
    expect(chat?.updatedAt).toBe(NOW);
  });

  it.each([
    ['no JSON', 'chats', 'The file is not JSON'],
    ['a list', '[]', 'The file is []; it must be an object.'],
    ['another format', '{"format":"chatgpt"}', '"format" is "chatgpt"'],
    [
      'another version',
      '{"format":"inference-gateway-chats","version":2}',
      '"version" is 2; this page reads version 1. Update it.',
    ],
    [
      'no chats',
      '{"format":"inference-gateway-chats","version":1}',
      'chats is missing; it must be a list.',
    ],
    [
      'too many chats',
      JSON.stringify({ format: 'inference-gateway-chats', version: 1, chats: Array(201).fill(0) }),
      'chats has 201 entries; 200 are allowed. Remove some.',
    ],
    [
      'a title that is none',
      fileWith(() => ({ title: 5 })),
      'chats[0].title is 5; it must be a text.',
    ],
    ['a bad time', fileWith(() => ({ createdAt: -1 })), 'chats[0].createdAt is -1; it must be'],
    [
      'a system prompt that is too long',
      fileWith(() => ({ settings: { system: 'x'.repeat(100_001) } })),
      'chats[0].settings.system has 100001 characters; 100000 are allowed. Shorten it.',
    ],
    [
      'a parent that comes later',
      turnWith({ parent: 'three' }),
      'chats[0].turns[1].parent is "three", which is the id of no turn before it.',
    ],
    [
      'a turn below itself',
      turnWith({ parent: 'two' }),
      'chats[0].turns[1].parent is "two", which is the id of no turn before it.',
    ],
    ['an id twice', turnWith({ id: 'one' }), 'chats[0].turns[1].id is "one", as of another turn.'],
    ['no answer', turnWith({ answers: [null] }), 'chats[0].turns[1].answers[0] is missing.'],
    [
      'a picture of another server',
      turnWith({
        prompt: { text: '', pictures: [{ name: 'x', url: 'https://example.org/x.png' }] },
      }),
      'chats[0].turns[1].prompt.pictures[0].url is "https://example.org/x.png". Only data: URLs',
    ],
    [
      'a picture with a script',
      turnWith({
        prompt: { text: '', pictures: [{ name: 'x', url: 'data:image/svg+xml;base64,AAAA' }] },
      }),
      'Only data: URLs of PNG, JPEG, WebP and GIF pictures in base64 are imported.',
    ],
  ])('are refused for %s', (_, text, message) => {
    expect(() => readChats(text, NOW)).toThrow(message);
  });
});
