/** Which names that nobody serves may be shown to others. */
import { isWantable, wantedId } from '@inference-gateway/coordinator/core/access/wanted-model';
import { newSecret } from '@inference-gateway/shared/ids';
import { array, assert, constantFrom, property, string, stringMatching, tuple } from 'fast-check';
import { expect, test } from 'vitest';

test.each([
  'qwen3:8b',
  'gpt-oss:20b',
  'llama3.1:8b-instruct-q4_K_M',
  'mixtral:8x7b-instruct-v0.1-q4_K_M',
  'qwen3-coder:30b-a3b-q8_0',
  'nomic-embed-text:v1.5',
  'black-forest-labs/FLUX.1-schnell',
  'stabilityai/stable-diffusion-xl-base-1.0',
  'bartowski/DeepSeek-R1-Distill-Qwen-32B-GGUF',
  'NousResearch/Hermes-3-Llama-3.1-70B',
  'openai/whisper-large-v3-turbo',
  'Qwen/Qwen3-235B-A22B-Instruct-2507',
  'google/gemma-3n-E4B-it',
  'Wan2.2-T2V-A14B',
  'MiniCPM-o-2_6',
  'InternVL3_5-8B',
  'Kokoro-82M',
  'sdxl',
  'xai-org/grok-2',
])('%s is a model', (id) => {
  expect(isWantable(id)).toBe(true);
});

test.each([
  [''],
  ['two words'],
  ['qwen3:8b\n'],
  ['<b>qwen3</b>'],
  ['‮qwen3'],
  ['modèle'],
  ['anna@example.org'],
  ['=cmd|x'],
  ['../../etc/passwd'],
  ['/home/anna/models/letters.gguf'],
  ['C:/models/letters.gguf'],
  ['home/anna/letters.gguf'],
  ['https://den.example/model'],
  ['192.168.1.7'],
  ['192.168.1.7:11434/llama3'],
  ['registry.den.example/qwen3'],
  ['a'.repeat(97)],
  ['a'.repeat(21)],
  [newSecret('gwk')],
  [newSecret('gwa')],
  [`model-${newSecret('gwk')}`],
  ['sk-proj-abcdefgh'],
  ['sk-abc'],
  ['SK-ABC'],
  ['hf_abcdefgh'],
  ['ghp_abcdefgh'],
  ['xoxb-123-abc'],
  ['AKIAIOSFODNN7EXAMPLE'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIi'],
  ['Bearer'],
  ['api_key'],
  ['9f86d081884c'],
  ['sha256:9f86d081884c7d65'],
  ['1b4e28ba-2fa1-11d2-883f-0016d3cca427'],
  ['qX7vR2mK9pLw'],
  ['model-qX7vR2mK9pLw4Z'],
  ['X7K2-9Q4E-B3W8'],
])('%j is not shown', (name) => {
  expect(isWantable(name)).toBe(false);
});

const BASE62 = stringMatching(/^[A-Za-z0-9]{24,48}$/);
const WORD = stringMatching(/^[a-z]{2,8}$/);

test('nothing passes with other characters, and no key does, wherever it is written', () => {
  assert(
    property(string({ unit: 'binary', maxLength: 120 }), (name) => {
      if (isWantable(name)) expect(name).toMatch(/^[A-Za-z0-9._:/-]{1,96}$/);
    }),
  );
  const prefix = constantFrom('gwk_', 'gwe_', 'sk-', 'sk_live_', 'ghp_', 'hf_');
  const around = constantFrom('', '-', ':', '/', '.', '_');
  assert(
    property(tuple(prefix, BASE62, WORD, around), ([begin, secret, word, mark]) => {
      expect(isWantable(begin + secret.slice(0, 12))).toBe(false);
      expect(isWantable(secret)).toBe(false);
      expect(isWantable(`${word}${mark}${secret}`)).toBe(false);
      if (mark !== '') expect(isWantable(`${word}${mark}${begin}${secret}`)).toBe(false);
    }),
  );
});

test('words with a version and a size pass, in any order', () => {
  const name = constantFrom('llama', 'Qwen2.5', 'DeepSeek', 'R1', 'coder', 'Instruct', 'v0.1');
  const size = constantFrom('7b', '70B', '8x7b', '1.5b', '30B-A3B', 'latest', 'q4_K_M');
  assert(
    property(tuple(array(name, { minLength: 1, maxLength: 4 }), size), ([words, tag]) => {
      expect(isWantable(`${words.join('-')}:${tag}`)).toBe(true);
    }),
  );
});

test('the tag that servers assume is the same model', () => {
  expect(wantedId('qwen3:latest')).toBe('qwen3');
  expect(wantedId('qwen3:8b')).toBe('qwen3:8b');
});
