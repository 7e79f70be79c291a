import { languageCode } from '@inference-gateway/agent/openai-wire/transcript';
import { expect, test } from 'vitest';

test.each([
  ['english', 'en'],
  ['German', 'de'],
  [' chinese ', 'zh'],
  ['mandarin', 'zh'],
  ['haitian creole', 'ht'],
  ['burmese', 'my'],
  ['cantonese', 'yue'],
  ['maori', 'mi'],
  ['de', 'de'],
  ['HAW', 'haw'],
])('%s is %s', (language, code) => {
  expect(languageCode(language)).toBe(code);
});

test.each(['', 'klingon', 'xx', 'en:english', 'constructor'])(
  '"%s" is none of them',
  (language) => {
    expect(languageCode(language)).toBeNull();
  },
);

test('what Intl calls in English as whisper does has the same code there', () => {
  const names = new Intl.DisplayNames('en', { type: 'language' });
  const codes = ['fr', 'pt', 'sw', 'lb', 'uk', 'yi'];
  for (const code of codes) expect(languageCode(names.of(code) ?? '')).toBe(code);
});
