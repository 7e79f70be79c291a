/** Metered tokens: bounded, estimated if the server does not count, and of what was sent. */
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chunks, dieMidStream, reply } from '../support/fake-behaviours.js';
import type { Behaviour } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { encodeFile, silentWav, toneSource } from '../support/sound.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { connectJobAgent, offerOf, resumedStream } from '../support/job-agent.js';
import { DOCUMENT } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { usageOf, usageRows } from '../support/usage-rows.js';
import { ended, submitted } from './job-calls.js';
import { chat, eventsOf, post } from './requests.js';

const path = '/v1/completions';

async function open(behaviour: Behaviour) {
  const served = await openServedGateway();
  onTestFinished(served.stop);
  served.fake.behave(behaviour);
  return served;
}

/** A whole answer with this text and this usage. */
function saying(content: string, usage?: object): Behaviour {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return reply(200, { id: 'x', created: 1, choices, ...(usage && { usage }) });
}

const ABSURD = { prompt_tokens: 9_000_000, completion_tokens: 9_000_000, total_tokens: 18_000_000 };

it('what a provider tells is held to the bytes that were sent, and said to be', async () => {
  const { gateway } = await open(saying('Hi.', ABSURD));
  const response = await post(gateway, chat());
  expect(response.headers.get('x-usage')).toBe('estimated');
  const row = await usageOf(gateway, response);
  expect(row.estimated).toBe(1);
  // A short question and a short answer, including the server's chat template.
  expect(row.promptTokens).toBeLessThan(3_000);
  expect(row.completionTokens).toBeLessThan(1_500);
});

it.each([
  ['max_tokens', { max_tokens: 20 }, 20],
  ['its other names', { max_completion_tokens: 30 }, 30],
  ['all answers of a request', { max_tokens: 20, n: 3 }, 60],
])('no answer has more than %s allow', async (_, fields, most) => {
  const { gateway } = await open(saying('Hi.', ABSURD));
  const row = await usageOf(gateway, await post(gateway, chat(fields)));
  expect(row).toMatchObject({ completionTokens: most, estimated: 1 });
});

it('nor what a provider tells that brings a job back', async () => {
  const gateway = await openGateway();
  onTestFinished(() => gateway.stop());
  const { agent, token } = await connectJobAgent(gateway);
  const { id } = await submitted(gateway, { model: 'm' });
  const open = await agent.nextOpen();
  agent.socket.terminate();
  const { agent: back } = await connectJobAgent(gateway, { token, resume: [offerOf(open)] });
  const stream = await resumedStream(back);
  back.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
  back.data(stream, JSON.stringify(DOCUMENT));
  back.send({ t: 'END', stream, ok: true, usage: ABSURD });
  expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED' });
  const [row] = await until(() => [usageRows(gateway)].find(({ length }) => length === 1));
  expect(row).toMatchObject({ estimated: 1 });
  expect(row?.promptTokens).toBeLessThan(3_000);
  expect(row?.completionTokens).toBeLessThan(1_500);
});

it.each([
  ['a limit of another name that stands for none', { n_predict: -1 }],
  ['more by another name', { max_completion_tokens: 900 }],
  ['more as text', { max_completion_tokens: '900' }],
  ['more among its options', { options: { num_predict: 900 } }],
  ['a switch that puts it out of force', { auto_max_new_tokens: true }],
  ['more as the fewest tokens', { min_tokens: 900 }],
])('nobody is metered by their lowest limit who asks for %s', async (_, fields) => {
  const usage = { prompt_tokens: 9, completion_tokens: 800, total_tokens: 809 };
  const { gateway } = await open(saying('word '.repeat(800), usage));
  const row = await usageOf(gateway, await post(gateway, chat({ max_tokens: 1, ...fields })));
  expect(row).toMatchObject({ completionTokens: 800, estimated: 0 });
});

it('a limit that is told as text holds what a provider tells', async () => {
  const { gateway } = await open(saying('Hi.', ABSURD));
  const row = await usageOf(gateway, await post(gateway, chat({ max_completion_tokens: '30' })));
  expect(row).toMatchObject({ completionTokens: 30, estimated: 1 });
});

it('thoughts that are not sent count up to the limit, and are no estimate', async () => {
  const usage = { prompt_tokens: 9, completion_tokens: 4_000, total_tokens: 4_009 };
  const { gateway } = await open(saying('Yes.', usage));
  const response = await post(gateway, chat({ max_tokens: 4_096 }));
  expect(response.headers.get('x-usage')).toBeNull();
  const row = await usageOf(gateway, response);
  expect(row).toMatchObject({ promptTokens: 9, completionTokens: 4_000, estimated: 0 });
});

it('a picture may be more tokens than its bytes', async () => {
  const usage = { prompt_tokens: 9_000, completion_tokens: 3, total_tokens: 9_003 };
  const { gateway } = await open(saying('Red.', usage));
  const url = 'data:image/png;base64,iVBORw0KGgo=';
  const content = [
    { type: 'text', text: 'Which colour?' },
    { type: 'image_url', image_url: { url } },
  ];
  const messages = [{ role: 'user', content }];
  const row = await usageOf(gateway, await post(gateway, chat({ messages })));
  expect(row).toMatchObject({ promptTokens: 9_000, estimated: 0 });
});

it('a server that counts nothing has its tokens estimated, and the answer says so', async () => {
  const { gateway } = await open(saying('It is four hundred years old, 四百年.'));
  const messages = [{ role: 'user', content: 'How old is the tree?' }];
  const response = await post(gateway, chat({ messages }));
  expect(response.headers.get('x-usage')).toBe('estimated');
  const { usage } = (await response.json()) as { usage: Record<string, number | boolean> };
  // The prompt: 4 tokens for the message, and one for each four of its 24 characters (20 of text, 4
  // of role). The answer: one for each four of 31 characters, and one for each of three CJK ones.
  expect(usage).toEqual({
    prompt_tokens: 4 + 6,
    completion_tokens: 8 + 3,
    total_tokens: 21,
    estimated: true,
  });
  const row = await usageOf(gateway, response);
  expect(row).toMatchObject({ promptTokens: 10, completionTokens: 11, estimated: 1 });
});

it('zeros are no count either', async () => {
  const none = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const { gateway } = await open(saying('Hello there.', none));
  const row = await usageOf(gateway, await post(gateway, chat()));
  expect(row.completionTokens).toBe(3);
  expect(row.promptTokens).toBeGreaterThan(0);
});

/** A stream whose last chunk has usage unasked, as with llama-server's completions. */
const tellingOnTheLast: Behaviour = (_request, response) => {
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 2,
    total_tokens: 7,
    prompt_tokens_details: { cached_tokens: 3 },
  };
  write(response, { choices: [{ index: 0, text: 'one ', finish_reason: null }] });
  write(response, { choices: [{ index: 0, text: 'two', finish_reason: 'stop' }], usage });
  response.end('data: [DONE]\n\n');
};

function write(response: ServerResponse, chunk: object): void {
  response.write(`data: ${JSON.stringify({ id: 'x', created: 1, ...chunk })}\n\n`);
}

it('usage of a streamed completion comes once, when asked for, with its details', async () => {
  const { gateway } = await open(tellingOnTheLast);
  const asked = { model: 'tiny', prompt: 'count', stream: true };
  const plain = await (await post(gateway, asked, { path })).text();
  expect(plain).not.toContain('usage');
  const stream_options = { include_usage: true };
  const text = await (await post(gateway, { ...asked, stream_options }, { path })).text();
  const told = eventsOf(text).filter((event) => event.includes('usage'));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? '')).toMatchObject({
    choices: [],
    usage: {
      prompt_tokens: 5,
      completion_tokens: 2,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 3 },
    },
  });
});

it('a stream that counts nothing says so in its usage chunk, and its row', async () => {
  const { gateway } = await open((_request, response) => {
    write(response, { choices: [{ index: 0, delta: { content: 'eight ch' } }] });
    write(response, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    response.end('data: [DONE]\n\n');
  });
  const options = { stream: true, stream_options: { include_usage: true } };
  const response = await post(gateway, chat(options));
  const told = eventsOf(await response.text()).filter((event) => event.includes('usage'));
  expect(JSON.parse(told[0] ?? '')).toMatchObject({
    usage: { completion_tokens: 2, estimated: true },
  });
  expect(await usageOf(gateway, response)).toMatchObject({ completionTokens: 2, estimated: 1 });
});

it('a stream whose caller leaves is metered by what was sent of it', async () => {
  const { gateway, fake } = await open(chunks({ count: 1_000, delayMs: 5 }));
  const leaving = new AbortController();
  const response = await post(gateway, chat({ stream: true }), { signal: leaving.signal });
  const reader = response.body?.getReader();
  let text = '';
  while (!text.includes('c5 ')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  leaving.abort();
  await until(() => fake.aborts.length === 1);
  const row = await usageOf(gateway, response);
  expect(row).toMatchObject({ outcome: 'canceled', estimated: 1 });
  expect(row.promptTokens).toBeGreaterThan(0);
  // `c0 ` to `c5 ` are 18 characters; some more had been sent already.
  expect(row.completionTokens).toBeGreaterThanOrEqual(5);
  expect(row.completionTokens).toBeLessThan(100);
});

it('a stream that breaks is metered by what was sent of it', async () => {
  const { gateway } = await open(dieMidStream({ after: 4 }));
  const response = await post(gateway, chat({ stream: true }));
  await response.text();
  const row = await usageOf(gateway, response);
  expect(row).toMatchObject({ outcome: 'failed', completionTokens: 3, estimated: 1 });
});

it('of a call that was given nothing, nothing counts', async () => {
  const { gateway, fake } = await open(() => undefined);
  const leaving = new AbortController();
  const call = post(gateway, chat(), { signal: leaving.signal });
  await until(() => fake.inFlight === 1);
  leaving.abort();
  await expect(call).rejects.toThrow('abort');
  const [row] = await until(() => {
    const rows = usageRows(gateway);
    return rows.length > 0 ? rows : null;
  });
  expect(row).toMatchObject({ outcome: 'canceled', promptTokens: 0, completionTokens: 0 });
  fake.behave(reply(500, { error: { message: 'no memory' } }));
  const failed = await usageOf(gateway, await post(gateway, chat()));
  expect(failed).toMatchObject({ outcome: 'failed', promptTokens: 0, estimated: 0 });
});

it.each([
  ['wav', 'audio/wav', []],
  ['pcm', 'audio/pcm', ['-ar', '24000', '-f', 's16le']],
  ['opus', 'audio/ogg', ['-c:a', 'libopus', '-page_duration', '20000', '-f', 'ogg']],
  ['mp3', 'audio/mpeg', ['-b:a', '64k', '-f', 'mp3']],
])('speech in %s that breaks off counts with the seconds that were sent', async (...kind) => {
  const [format, contentType, args] = kind;
  const gateway = await openGateway({ breakerOpenMs: 0 });
  onTestFinished(() => gateway.stop());
  const file = join(await temporaryFolder(), 'speech');
  if (format !== 'wav') await encodeFile(file, [...toneSource(4), ...args]);
  const sound = format === 'wav' ? silentWav(4) : await readFile(file);
  const half = sound.subarray(0, sound.length / 2);
  const fake = await startFakeOpenAi({
    behaviour: (_request, response) => {
      response.writeHead(200, { 'content-type': contentType });
      response.write(half);
    },
  });
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ type: 'tts', baseUrl: fake.baseUrl }] });
  const leaving = new AbortController();
  const { signal } = leaving;
  const speech = { path: '/v1/audio/speech', signal };
  const asked = { model: 'tiny', input: 'hello', response_format: format };
  const response = await post(gateway, asked, speech);
  const reader = response.body?.getReader();
  for (let read = 0; read < half.length;) read += (await reader?.read())?.value?.length ?? 0;
  leaving.abort();
  const { outcome, audioMs } = await usageOf(gateway, response);
  expect(outcome).toBe('canceled');
  expect(Math.abs(audioMs - 2_000)).toBeLessThan(100);
});
