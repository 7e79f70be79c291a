/** Words of a local server before callers read them. */
import { errorDocument, withoutPaths } from '@inference-gateway/agent/openai-wire/error-document';
import { expect, test } from 'vitest';
import { errorOf } from '../../support/local-call.js';

test.each([
  ['unable to load model: /home/ann/.ollama/models/blobs/sha256-1', 'unable to load model: …'],
  ['C:\\Users\\Ann Smith\\m.gguf is bad\nbecause', '…\nbecause'],
  ["No such file: '/home/Ann Smith/x y.pt' or so", "No such file: '…' or so"],
  ['see file:///Users/ann/log', 'see …'],
  ['~/models/x is missing', '…'],
  ['on \\\\nas\\ann\\x', 'on …'],
])('%j has no path any more', (said, told) => {
  expect(withoutPaths(said)).toBe(told);
});

test.each([
  'see https://ollama.com/library/tiny for more',
  'POST /v1/chat/completions is not there',
  "at '/messages/0/content'",
  'messages/0/content is no text/plain',
  'org/model/file is unknown',
  'request (12021 tokens) exceeds the size (1024 tokens)',
])('%j stays as it is', (said) => {
  expect(withoutPaths(said)).toBe(said);
});

test.each([400, 404, 500])('status %i tells callers no path of the machine', (status) => {
  const said = JSON.stringify({ error: { message: 'cannot open /home/ann/tiny.gguf' } });
  const message = 'cannot open …';
  expect(errorOf(errorDocument(status, said))).toMatchObject({ message });
  expect(errorOf(errorDocument(status, 'cannot open /home/ann/tiny.gguf'))).toMatchObject({
    message,
  });
});
