import { findForeignMedia, findForeignUrl } from '@inference-gateway/shared/openai/media-urls';
import { expect, test } from 'vitest';

const image = (url: unknown) => ({ type: 'image_url', image_url: { url } });
const data = 'data:image/png;base64,iVBORw0KGgo=';

const MP3 = { data: '//uQxAAA', format: 'mp3' };

/** Annotations as OpenAI's Chat Completions and Responses write them. */
const CITED = [
  { type: 'url_citation', url_citation: { url: 'https://example.org', title: 'x' } },
  { type: 'url_citation', url_citation: null },
];

test.each([
  ['no messages', {}],
  ['messages that are no list', { messages: 'http://x' }],
  ['plain text with an address in it', { messages: [{ role: 'user', content: 'http://x' }] }],
  ['a text part with an address in it', { messages: [{ content: [{ text: 'http://x' }] }] }],
  ['a data: URL', { messages: [{ content: [image(data)] }] }],
  ['a data: URL in capitals', { messages: [{ content: [image('DATA:image/png;base64,AA')] }] }],
  ['base64 audio', { messages: [{ content: [{ input_audio: { data: 'AA', format: 'wav' } }] }] }],
  ['null where a URL could be', { messages: [{ content: [image(null)] }, null] }],
  ['base64 that begins as an MP3 does', { messages: [{ content: [{ input_audio: MP3 }] }] }],
  ['a data: URL of a message itself', { messages: [{ content: 'hi', image_url: data }] }],
  ['an answer of sound', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
  ['a URL outside of the content', { messages: [{ content: 'hi', url: 'http://x' }] }],
  ['sources beside the content', { messages: [{ content: 'hi', annotations: CITED }] }],
  ['sources of a text', { messages: [{ content: [{ type: 'text', annotations: CITED }] }] }],
  ['a source as a part', { messages: [{ content: CITED }] }],
  ['a list of sources', { messages: [{ content: [{ citations: [{ url: 'https://a' }] }] }] }],
])('finds nothing in %s', (_what, body) => {
  expect(findForeignUrl(body)).toBeNull();
});

test.each([
  ['messages[0].content[0].image_url.url', [{ content: [image('http://127.0.0.1/x')] }]],
  ['messages[1].content[1].image_url.url', [{}, { content: [image(data), image('https://a')] }]],
  ['messages[0].content[0].image_url', [{ content: [{ image_url: 'https://a' }] }]],
  ['messages[0].content[0].video_url.url', [{ content: [{ video_url: { url: 'ftp://a' } }] }]],
  ['messages[0].content[0].file.url', [{ content: [{ file: { url: 'file:///etc/passwd' } }] }]],
  ['messages[0].content[0].image_url.url', [{ content: [image(' data:x')] }]],
  ['messages[0].content[0].image_url.url', [{ content: [image('')] }]],
  ['messages[0].content[0].image_url[1]', [{ content: [{ image_url: [data, 'http://a'] }] }]],
  ['messages[0].content.image_url.url', [{ content: image('http://a') }]],
  [
    'messages[0].content[0].image_url.url',
    [{ content: [{ annotations: [], ...image('http://a') }] }],
  ],
  ['messages[0].content[0].citation.url', [{ content: [{ citation: { url: 'http://a' } }] }]],
  ['messages[0].content[0].IMAGE_URL', [{ content: [{ IMAGE_URL: 'http://a' }] }]],
  // text-generation-webui fetches URLs from fields of the message itself.
  ['messages[1].image_url', [{ role: 'user' }, { role: 'user', image_url: 'http://127.0.0.1/x' }]],
  ['messages[0].image_url.url', [{ content: 'hi', image_url: { url: 'http://a' } }]],
  // A URL in place of base64.
  [
    'messages[0].content[0].input_audio.data',
    [{ content: [{ type: 'input_audio', input_audio: { data: 'http://10.0.0.1/x.wav' } }] }],
  ],
  ['messages[0].content[0].image', [{ content: [{ type: 'image', image: 'FILE:///etc' }] }]],
])('names the first foreign one: %s', (path, messages) => {
  expect(findForeignUrl({ messages })).toBe(path);
});

test('a body nested without end costs no stack', () => {
  let content: unknown = image('http://a');
  for (let depth = 0; depth < 100_000; depth++) content = [content];
  expect(findForeignUrl({ messages: [{ content }] })).toMatch(/^messages\[0\]\.content\[0\]/);
});

test.each([
  [{ file: 'http://192.168.1.1/x' }, 'file'],
  [{ input_reference: '//10.0.0.1/' }, 'input_reference'],
  [{ image2: 'cat.png' }, 'image2'],
  [{ imageUrl: 'x' }, 'imageUrl'],
  [{ image_uri: 'x' }, 'image_uri'],
  [{ speaker_wav: '/etc/passwd' }, 'speaker_wav'],
  [{ audio_prompt_path: 'a' }, 'audio_prompt_path'],
  [{ reference_audio_filename: '../../x' }, 'reference_audio_filename'],
  [{ extra_body: { image: '/etc/passwd' } }, 'extra_body.image'],
  [{ image: { path: '/etc/passwd' } }, 'image.path'],
  [{ control_image: { anything: 'x' } }, 'control_image.anything'],
  // Names that a server in Go folds to the real ones.
  [{ '\u017frc': '/etc/passwd' }, '\u017frc'],
  [{ iMage: '/etc/passwd' }, 'iMage'],
  [{ 'ma\u017f\u212a': '/etc/passwd' }, 'ma\u017f\u212a'],
  [{ odd: ['a', ' HTTPS://example.org'] }, 'odd[1]'],
  [{ odd: '\\\\server\\share' }, 'odd'],
])('%j reaches no model server', (body, path) => {
  expect(findForeignMedia({ model: 'm', prompt: 'x', ...body })).toBe(path);
});

test.each([
  { prompt: 'http://example.org is an address' },
  { input: 'file: a word', lyrics: '// a line' },
  { model: 'http://odd/name' },
  { image: 'data:image/png;base64,AAAA', images: ['data:image/png;base64,AAAA'] },
  { seed: 5, steps: 20, style: 'vivid', quality: 'hd', audio_format: 'mp3', audio_duration: 3 },
])('%j does', (body) => {
  expect(findForeignMedia(body)).toBeNull();
});
