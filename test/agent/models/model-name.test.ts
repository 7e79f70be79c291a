/** Which names of models a coordinator may have pulled. */
import { nameFault } from '@inference-gateway/agent/models/model-name';
import { describe, expect, test } from 'vitest';

describe('the name of a model in the server’s own library', () => {
  test.each([
    'llama3.2',
    'llama3.2:3b',
    'qwen3:8b-q4_K_M',
    'user/model',
    'ggml-org/gemma-3-4b-it-GGUF:Q4_K_M',
    'a_b/c.d-e:f.g',
    'a'.repeat(200),
  ])('may be %s', (name) => {
    expect(nameFault(name)).toBeNull();
  });

  test.each([
    ['an address', 'https://example.org/x.gguf'],
    ['an address without a host', 'file:///etc/passwd'],
    ['another registry', 'hf.co/user/model'],
    ['another registry with two segments', 'hf.co/model'],
    ['a registry with a port', 'registry.example:5000/model'],
    ['a host with a port', 'localhost:5000/model'],
    ['three segments, the first of which is a host', 'host/library/model'],
    ['a scheme of LocalAI', 'huggingface://user/model'],
    ['a way out of a folder', '../../x'],
    ['dots between letters', 'a..b'],
    ['a path', '/etc/passwd'],
    ['a Windows path', 'C:\\x'],
    ['an option', '-x'],
    ['an option in the second segment', 'a/-x'],
    ['a hidden file', '.x'],
    ['a space', 'a b'],
    ['a new line', 'a\nb'],
    ['a new line at its end', 'a\n'],
    ['a zero byte', 'a\0b'],
    ['a query', 'a?x=1'],
    ['a fragment', 'a#b'],
    ['an encoded slash', 'a%2fb'],
    ['another at sign', 'user@host'],
    ['two tags', 'a:b:c'],
    ['an empty tag', 'a:'],
    ['an empty segment', 'a//b'],
    ['letters that look like others', 'llаma'],
    ['nothing', ''],
    ['too much', 'a'.repeat(201)],
  ])('may not be %s', (_, name) => {
    expect(nameFault(name)).toEqual(expect.any(String));
  });
});
