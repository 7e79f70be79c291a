/** Excerpts of requests: what they are made of, whatever a caller sends. */
import { excerptOf, requestExcerpt } from '@inference-gateway/shared/openai/excerpt';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const FAMILY = '👨‍👩‍👧‍👦';
const user = (content: unknown) => ({ role: 'user', content });
const part = (text: string) => ({ type: 'text', text });
const graphemes = (text: string): number => [...new Intl.Segmenter('en').segment(text)].length;

describe('of a text', () => {
  test.each<[string, string, string | null]>([
    ['white space is one space', '  Draw\n\n a\t\u00a0fox\u2028now ', 'Draw a fox now'],
    ['nothing is nothing', ' \u200b\u202e\n', null],
    ['a data URL is left out', 'See data:image/png;base64,AAAA== here', 'See here'],
    ['so is one in a link', '![a fox](data:image/png;base64,AAAA) is it?', '![a fox]( ) is it?'],
    ['or with small letters and a parameter', 'x DATA:;charset=utf-8,a%20b y', 'x y'],
    [
      'a sentence about data stays',
      'My data: 1, 2 in metadata:a/b,c',
      'My data: 1, 2 in metadata:a/b,c',
    ],
    ['text cannot be turned around', 'a\u202egnp.exe\u2066b\u200fc', 'agnp.exebc'],
    [
      'what is not seen is left out',
      'a\u200bb\u00adc\u2060d\ufeffe\u{e0041}f\u3164g\u2800h',
      'abcdefgh',
    ],
    ['control characters are left out', 'a\u0000b\u001bc\u007fd\u0085e', 'abcde'],
    ['half of a pair is left out', 'a\ud83db\udc00c', 'abc'],
    ['emoji stay as they are', `${FAMILY} ❤️‍🔥 1️⃣ 👍🏽`, `${FAMILY} ❤️‍🔥 1️⃣ 👍🏽`],
    ['a joiner between letters is left out', 'a\u200db\u200d😀 \ufe0fx', 'ab😀 x'],
    ['marks stay with their letters', 'e\u0301 नमस्ते', 'e\u0301 नमस्ते'],
  ])('%s', (_, text, excerpt) => {
    expect(excerptOf(text)).toBe(excerpt);
  });

  test('80 graphemes are kept, of any script', () => {
    for (const one of ['x', 'ж', '狐', 'e\u0301', '😀', FAMILY, 'क्षि']) {
      const excerpt = excerptOf(one.repeat(100)) ?? '';
      expect([one, graphemes(excerpt), excerpt]).toEqual([one, 80, one.repeat(80)]);
    }
  });

  test('a data URL before the text does not hide it', () => {
    const picture = `data:image/png;base64,${'A'.repeat(1_000)}`;
    expect(excerptOf(`${picture} What is this?`)).toBe('What is this?');
  });

  test('whatever is sent, it is one line of at most 80 graphemes that can be seen', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc
        .array(
          fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
          {
            maxLength: 400,
          },
        )
        .map((units) => units.join('')),
      fc
        .array(
          fc.constantFrom(FAMILY, '\u202e', '\u200d', '\ufe0f', 'a', ' ', 'data:x/y,', '\ud800'),
          {
            maxLength: 400,
          },
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        const excerpt = excerptOf(text);
        if (excerpt === null) return;
        expect(excerpt).toBe(excerpt.trim());
        expect(excerpt).not.toMatch(/\p{Cs}/u);
        expect(graphemes(excerpt)).toBeLessThanOrEqual(80);
        expect(excerpt.length).toBeLessThanOrEqual(1_024);
        expect(excerpt).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]| {2}/u);
        expect(excerpt.replaceAll('\u200d', '')).not.toMatch(/\p{Cf}/u);
        expect(excerpt).not.toMatch(/\u200d(?!\p{Extended_Pictographic})/u);
      }),
      { numRuns: 2_000 },
    );
  });

  test('ten megabytes cost no more than their beginning', () => {
    const megabytes = 10 * 1024 * 1024;
    const texts = ['x', ' ', '\u202e', 'data:a/', '\u0301'].map((one) => {
      return one.repeat(megabytes / one.length);
    });
    // Flat texts, as they come from JSON.
    const flat = texts.map((text) => JSON.parse(JSON.stringify(text)) as string);
    const before = process.cpuUsage();
    for (const text of flat) for (let i = 0; i < 20; i++) excerptOf(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});

describe('of a request', () => {
  test.each<[string, EndpointKey, Record<string, unknown>, string | null]>([
    [
      'a chat has the last text of its user',
      'chat',
      {
        messages: [
          { role: 'system', content: 'You are a coding agent.' },
          user('first'),
          { role: 'assistant', content: 'answer' },
          user('Mend the test'),
          { role: 'assistant', tool_calls: [] },
          { role: 'tool', content: 'output' },
        ],
      },
      'Mend the test',
    ],
    [
      'a picture has no text, and its message has',
      'chat',
      { messages: [user([{ type: 'image_url', image_url: { url: 'data:x' } }, part('What?')])] },
      'What?',
    ],
    [
      'what a coding agent adds is not its user’s',
      'chat',
      { messages: [user([part('<system-reminder>\nx\n</system-reminder>\n'), part('Mend it')])] },
      'Mend it',
    ],
    [
      'unless there is nothing else',
      'chat',
      { messages: [user([part('<task>do it</task>')])] },
      '<task>do it</task>',
    ],
    [
      'a message without text leaves it to the one before',
      'chat',
      { messages: [user('Draw'), user([{ type: 'image_url' }]), user(null)] },
      'Draw',
    ],
    [
      'a chat without a user has none',
      'chat',
      { messages: [{ role: 'system', content: 'x' }] },
      null,
    ],
    ['nonsense has none', 'chat', { messages: [null, 3, user([null, { text: 4 }])] }, null],
    ['a completion has its prompt', 'completions', { prompt: 'Once upon' }, 'Once upon'],
    ['of several, the first', 'completions', { prompt: ['Once', 'Twice'] }, 'Once'],
    ['tokens have none', 'completions', { prompt: [1, 2, 3] }, null],
    ['a picture has its prompt', 'images', { prompt: 'a red fox' }, 'a red fox'],
    ['so has a film', 'videos', { prompt: 'a wave' }, 'a wave'],
    ['and music', 'music', { prompt: 'a march', lyrics: 'la' }, 'a march'],
    ['speech has what is said', 'speech', { input: 'Hello there.' }, 'Hello there.'],
    ['an embedding has its text', 'embeddings', { input: ['one', 'two'] }, 'one'],
    ['a ranking has its question', 'rerank', { query: 'which?', documents: ['a'] }, 'which?'],
    ['a transcription has none', 'transcriptions', { prompt: 'spelling' }, null],
  ])('%s', (...[, endpoint, body, excerpt]) => {
    expect(requestExcerpt(endpoint, body)).toBe(excerpt);
  });
});
