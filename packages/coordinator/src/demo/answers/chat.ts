/** Answers for chats and completions: a fixed text, word by word. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { randomId } from '@inference-gateway/shared/ids';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { setTimeout as pause } from 'node:timers/promises';
import { seedOf } from '../random.js';
import { CHATS } from '../topics.js';
import type { Answer, Call, Piece } from './answer.js';
import { countOf, work } from './answer.js';

const FIRST_WORD_MS = { least: 140, most: 480 } as const;
/** Sends small groups of words: a timer for each word would keep the processor busy. */
const WORDS_A_CHUNK = 2;
/** Approximate, for English text. */
const TOKENS_A_WORD = 1.35;
const CHARACTERS_A_TOKEN = 4;
const MAX_TOKENS = 1_000_000;
/** Speed of larger models, as a part of the machine's fastest. */
const LARGE_MODEL = 0.45;
const REASONING =
  'The question is short, so a short answer will do. I name the main point first and keep the ' +
  'details for the end. ';

interface Said {
  readonly reasoning: readonly string[];
  readonly words: readonly string[];
  readonly ending: 'stop' | 'length';
  readonly usage: TokenUsage;
}

export async function* answerChat(call: Call): Answer {
  const said = say(call);
  if (call.body['stream'] === true) yield* streamed(call, said);
  else yield* whole(call, said);
  return said.usage;
}

function say(call: Call): Said {
  const asked = JSON.stringify(call.body['messages'] ?? call.body['prompt'] ?? '');
  const all = wordsOf(answerTo(asked));
  const most = countOf(call, 'max_tokens', { least: 1, most: MAX_TOKENS, otherwise: MAX_TOKENS });
  const words = all.slice(0, Math.max(1, Math.floor(most / TOKENS_A_WORD)));
  const reasoning = /deepseek-r1|qwen3/.test(call.model) ? wordsOf(REASONING) : [];
  const prompt = Math.ceil(asked.length / CHARACTERS_A_TOKEN);
  const completion = Math.ceil((words.length + reasoning.length) * TOKENS_A_WORD);
  return {
    reasoning,
    words,
    ending: words.length < all.length ? 'length' : 'stop',
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    },
  };
}

/** The answer that matches the question, else a fixed choice by the question's seed. */
function answerTo(asked: string): string {
  const known = CHATS.find(({ question }) => asked.includes(JSON.stringify(question).slice(1, -1)));
  const other = CHATS[seedOf(asked) % CHATS.length] ?? CHATS[0];
  return (known ?? other).answer;
}

function wordsOf(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

/** For a job or a call without streaming: waits the whole time before the first byte. */
async function* whole(call: Call, said: Said): AsyncGenerator<Piece> {
  const words = said.words.length + said.reasoning.length;
  yield* work(firstWordMs(call) + words * wordMs(call), call.signal);
  const content = said.words.join('');
  const reasoning = said.reasoning.join('');
  const message = {
    role: 'assistant',
    content,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  };
  const choice = { index: 0, ...spoken(call, content, message), finish_reason: said.ending };
  const document = { ...envelope(call, ''), choices: [choice], usage: said.usage };
  yield { kind: 'head', contentType: 'application/json' };
  yield { kind: 'data', bytes: Buffer.from(JSON.stringify(document)) };
}

/** Sends no final line, because the coordinator ends the stream with its own. */
async function* streamed(call: Call, said: Said): AsyncGenerator<Piece> {
  const shared = envelope(call, '.chunk');
  const event = (choices: readonly object[], rest: object = {}): Piece => ({
    kind: 'data',
    bytes: Buffer.from(`data: ${JSON.stringify({ ...shared, choices, ...rest })}\n\n`),
  });
  const choice = (content: string, delta: object, ending: string | null): object => {
    return { index: 0, ...spokenPart(call, content, delta), finish_reason: ending };
  };
  await pause(firstWordMs(call), undefined, { signal: call.signal });
  yield { kind: 'head', contentType: 'text/event-stream' };
  for (const text of chunksOf(said.reasoning)) {
    yield event([choice('', { reasoning_content: text }, null)]);
    await pause(WORDS_A_CHUNK * wordMs(call), undefined, { signal: call.signal });
  }
  for (const text of chunksOf(said.words)) {
    yield event([choice(text, { content: text }, null)]);
    await pause(WORDS_A_CHUNK * wordMs(call), undefined, { signal: call.signal });
  }
  yield event([choice('', {}, said.ending)]);
  if (wantsUsage(call)) yield event([], { usage: said.usage });
}

function chunksOf(words: readonly string[]): string[] {
  return Array.from({ length: Math.ceil(words.length / WORDS_A_CHUNK) }, (_, chunk) =>
    words.slice(chunk * WORDS_A_CHUNK, (chunk + 1) * WORDS_A_CHUNK).join(''),
  );
}

function isChat({ endpoint }: Call): boolean {
  return kindOf(endpoint).text?.isConversation === true;
}

function spoken(call: Call, text: string, message: object): object {
  return isChat(call) ? { message } : { text };
}

function spokenPart(call: Call, text: string, delta: object): object {
  return isChat(call) ? { delta } : { text };
}

function envelope(call: Call, form: '' | '.chunk'): object {
  const created = Math.floor(SYSTEM_CLOCK.now() / 1000);
  const { model } = call;
  if (isChat(call)) {
    return { id: `chatcmpl-${randomId()}`, object: `chat.completion${form}`, created, model };
  }
  return { id: `cmpl-${randomId()}`, object: 'text_completion', created, model };
}

function firstWordMs({ random }: Call): number {
  return random.between(FIRST_WORD_MS.least, FIRST_WORD_MS.most);
}

function wordMs({ model, tokensPerSecond }: Call): number {
  const speed = /32b|70b/.test(model) ? tokensPerSecond * LARGE_MODEL : tokensPerSecond;
  return (TOKENS_A_WORD * 1_000) / speed;
}

function wantsUsage({ body }: Call): boolean {
  const options = body['stream_options'];
  return typeof options === 'object' && options !== null && 'include_usage' in options
    ? options.include_usage === true
    : false;
}
