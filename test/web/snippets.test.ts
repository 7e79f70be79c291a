/** The calls that the dashboard shows: each runs as pasted, against a real gateway. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { snippetOf } from '../../packages/coordinator/web/src/ui/snippets/snippets.js';
import type {
  Language,
  SnippetCall,
} from '../../packages/coordinator/web/src/ui/snippets/snippets.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { sendJson } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { picture } from '../support/pictures.js';
import { hasPython, runSnippet } from '../support/run-snippet.js';
import { FILM, SONG, SPEECH, sendFile, startStudio } from '../support/studio.js';

let gateway: TestGateway;
let chat: FakeModelServer;
let ears: FakeModelServer;
let studio: FakeModelServer;
let voice: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  chat = await startFakeOpenAi();
  ears = await startFakeOpenAi({
    models: [],
    behaviour: (_request, response) => sendJson(response, 200, { text: 'I heard you.' }),
  });
  voice = await startFakeOpenAi({ models: [], behaviour: sendFile('audio/wav', SPEECH) });
  studio = (await startStudio(gateway, { name: 'studio', voices: ['bella'] })).fake;
  const cloner = model('chatterbox', ['voice-cloning']);
  await gateway.startAgent({
    services: [
      { baseUrl: chat.baseUrl },
      { id: 'stt-0', type: 'stt', baseUrl: ears.baseUrl, models: [model('whisper')] },
      { id: 'tts-1', type: 'tts', baseUrl: voice.baseUrl, models: [cloner] },
    ],
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([chat, ears, studio, voice].map((fake) => fake.close()));
});

function model(id: string, supportedFeatures: string[] | null = null) {
  return { id, servedName: id, contextLength: null, inputModalities: null, supportedFeatures };
}

interface Case {
  readonly what: string;
  readonly endpoint: EndpointKey;
  readonly body: Readonly<Record<string, unknown>>;
  readonly files?: SnippetCall['files'];
  /** On the screen. */
  readonly says?: string;
  /** In a file. */
  readonly saves?: readonly [name: string, bytes: Buffer];
}

const MESSAGES = [{ role: 'user', content: `It's "here": $HOME \`id\` \\ 10 %, ä 🙂` }];
const SPOKEN = [{ field: 'file', name: 'voice.wav' }];
const DRAWN = [
  { field: 'image', name: 'picture.png' },
  { field: 'mask', name: 'mask.png' },
];
const JOB = '"object":"service.job"';

const CHAT: Case = {
  what: 'a chat',
  endpoint: 'chat',
  body: { model: 'tiny', messages: MESSAGES, temperature: 0.2, stop: null, made_up: [true] },
  says: 'Hello from the fake.',
};
const CASES: readonly Case[] = [
  CHAT,
  {
    what: 'a streamed chat',
    endpoint: 'chat',
    body: {
      model: 'tiny',
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    },
    says: 'Hello',
  },
  {
    what: 'a completion',
    endpoint: 'completions',
    body: { model: 'tiny', prompt: 'Once', max_tokens: 5 },
    says: 'Hello from the fake.',
  },
  {
    what: 'a transcription',
    endpoint: 'transcriptions',
    body: { model: 'whisper', prompt: `@here and <there>`, timestamp_granularities: ['word'] },
    files: SPOKEN,
    says: 'I heard you.',
  },
  {
    what: 'speech',
    endpoint: 'speech',
    body: { model: 'kokoro', input: 'Hello', voice: 'bella' },
    saves: ['speech.wav', SPEECH],
  },
  {
    what: 'speech in the voice that comes first',
    endpoint: 'speech',
    body: { model: 'kokoro', input: 'Hello' },
    saves: ['speech.wav', SPEECH],
  },
  {
    what: 'the voices',
    endpoint: 'voices',
    body: { model: 'kokoro' },
    says: 'bella',
  },
  {
    what: 'pictures',
    endpoint: 'images',
    body: { model: 'sd', prompt: 'A lighthouse', n: 2, size: '64x64' },
    says: '/api/inference/assets/',
  },
  {
    what: 'an edited picture',
    endpoint: 'edits',
    body: { model: 'sd', prompt: 'At night' },
    files: DRAWN,
    says: '/api/inference/assets/',
  },
  {
    what: 'a film',
    endpoint: 'videos',
    body: { model: 'wan', prompt: 'Waves' },
    saves: ['film.mp4', FILM],
  },
  {
    what: 'music',
    endpoint: 'music',
    body: { model: 'ace', prompt: 'Waves' },
    saves: ['music.wav', SONG],
  },
  {
    what: 'a voice made from another',
    endpoint: 'voice',
    body: { model: 'chatterbox', input: 'Hello' },
    files: SPOKEN,
    saves: ['speech.wav', SPEECH],
  },
  {
    what: 'a job',
    endpoint: 'chat',
    body: { model: 'tiny', messages: MESSAGES, async: true },
    says: JOB,
  },
];

function callOf({ endpoint, body, files }: Case): SnippetCall {
  const key = '$GATEWAY_KEY';
  return { baseUrl: gateway.baseUrl, key, endpoint, body, ...(files && { files }) };
}

async function check(language: Language, one: Case): Promise<void> {
  const { stdout, files } = await runSnippet(language, snippetOf(language, callOf(one)), {
    env: { GATEWAY_KEY: gateway.anna.key },
    files: { 'voice.wav': SPEECH, 'picture.png': picture(), 'mask.png': picture({ seed: 1 }) },
  });
  if (one.says !== undefined) expect(squeeze(stdout)).toContain(squeeze(one.says));
  if (one.saves === undefined) return;
  const [name, bytes] = one.saves;
  expect(files[name]?.equals(bytes), name).toBe(true);
}

/** Node prints objects in its own way. */
function squeeze(text: string): string {
  return text.replaceAll(/[\s'"]/g, '');
}

describe.each(['curl', 'node'] as const)('%s', (language) => {
  test.concurrent.each(CASES)('runs $what', (one) => check(language, one));
});

test('Python runs those that OpenAI’s client knows', async ({ skip }) => {
  if (!(await hasPython('openai'))) skip('this machine has no Python with OpenAI’s client');
  const known = CASES.filter((one) => !pythonOf(one).includes('import httpx'));
  await Promise.all(known.map((one) => check('python', one)));
});

test('Python can read each of them', async ({ skip }) => {
  if (!(await hasPython('ast'))) skip('this machine has no Python');
  const program = CASES.map((one) => `ast.parse(${JSON.stringify(pythonOf(one))})`);
  await runSnippet('python', ['import ast', ...program].join('\n'));
});

test('a call in Python is written as its people write it', () => {
  const body = {
    model: 'tiny',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
    odd: null,
  };
  expect(pythonOf({ ...CHAT, body })).toBe(`# pip install openai
import os
from openai import OpenAI

client = OpenAI(
    base_url="${gateway.baseUrl}",
    api_key=os.environ["GATEWAY_KEY"],
)

answer = client.chat.completions.create(
    model="tiny",
    messages=[{"role": "user", "content": "Hi"}],
    stream=True,
    extra_body={"odd": None},
)
for chunk in answer:
    for choice in chunk.choices:
        text = choice.delta.content
        print(text or "", end="", flush=True)
print()`);
});

function pythonOf(one: Case): string {
  return snippetOf('python', callOf(one));
}

test('what is sent is what the call says, to the letter', async () => {
  for (const language of ['curl', 'node'] as const) {
    await check(language, CHAT);
    const { messages, stop, made_up } = chat.requests.at(-1)?.body ?? {};
    expect({ messages, stop, made_up }).toEqual({
      messages: MESSAGES,
      stop: null,
      made_up: [true],
    });
  }
});
