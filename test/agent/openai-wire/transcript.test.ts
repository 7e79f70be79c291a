import { readOpenAiTranscript } from '@inference-gateway/agent/openai-wire/transcript';
import { expect, test } from 'vitest';

const read = (answer: unknown): Record<string, unknown> => {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const { status, json } = readOpenAiTranscript(text);
  expect(status).toBe(200);
  return JSON.parse(json) as Record<string, unknown>;
};

test.each([
  ['  plain text\n', 'plain text'],
  ['"JSON text "', 'JSON text'],
  ['', ''],
  ['7', '7'],
  ['[1, 2]', '[1, 2]'],
  ['{"text": " a "}', 'a'],
])('the text of %j is %j', (answer, text) => {
  expect(read(answer)).toMatchObject({ text });
});

test.each([
  ['english', 'en'],
  ['de', 'de'],
  ['Haitian Creole', 'ht'],
  ['klingon', 'klingon'],
  [null, undefined],
  [7, undefined],
])('the language %j is %j', (language, wanted) => {
  expect(read({ text: '', language })['language']).toBe(wanted);
});

test('words are taken from where the server puts them', () => {
  const word = { word: 'hi', start: 0, end: 1 };
  expect(read({ text: 'hi', words: [word] })['words']).toEqual([word]);
  const segments = [{ text: 'hi', start: 0, end: 1, words: [word] }];
  expect(read({ text: 'hi', segments })).toMatchObject({
    segments: [{ text: 'hi', start: 0, end: 1 }],
    words: [word],
  });
  expect(read({ text: 'hi', words: [{ text: ' hi', start: 0, end: 1 }] })['words']).toEqual([word]);
});

test.each([
  [
    { start: 1, end: 2 },
    { start: 1, end: 2 },
  ],
  [
    { start: 1, end: 30 },
    { start: 1, end: 3 },
  ],
  [
    { start: 9, end: 30 },
    { start: 3, end: 3 },
  ],
  [
    { start: 2, end: 1 },
    { start: 2, end: 2 },
  ],
  [
    { start: -1, end: 'x' },
    { start: 0, end: 0 },
  ],
  [{}, { start: 0, end: 0 }],
])('the times %j become %j in three seconds', (timed, wanted) => {
  const [segment] = read({ text: '', duration: 3, segments: [timed] })['segments'] as unknown[];
  expect(segment).toEqual(wanted);
});

test('a page, an error and anything else are no transcript', () => {
  expect(() => readOpenAiTranscript('\n<!doctype html>')).toThrow(/a page/);
  expect(() => readOpenAiTranscript('{"segments": []}')).toThrow(/without a text/);
  expect(readOpenAiTranscript('{"detail": "no memory"}')).toMatchObject({ status: 500 });
});
