/** The events, read by that API's own SDK. */
import { ApiError } from '@inference-gateway/shared/errors';
import { messagesError } from '@inference-gateway/shared/openai/messages/errors';
import { modelInfo, modelsPage } from '@inference-gateway/shared/openai/messages/models';
import { MESSAGES } from '@inference-gateway/shared/openai/messages/translation';
import Anthropic, {
  APIError,
  AuthenticationError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { afterEach, expect, test } from 'vitest';

type Fields = Readonly<Record<string, unknown>>;

const REQUEST = {
  model: 'm',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'hi' }],
};
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function sdkOf(answer: RequestListener): Promise<Anthropic> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: 'k', maxRetries: 0 });
}

const subjectOf = (context: Fields) => ({ id: '01J', createdAt: 1, model: 'm', context });

/** Translates the SDK's own request, and answers with the events of these chunks. */
function streaming(chunks: readonly Fields[], error?: ApiError): RequestListener {
  return (request, response) => {
    let body = '';
    request.on('data', (bytes) => (body += String(bytes)));
    request.on('end', () => {
      const { context } = MESSAGES.toChat(JSON.parse(body));
      const events = MESSAGES.openEvents(subjectOf(context));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const chunk of chunks) response.write(events.chunk(chunk));
      response.end(error === undefined ? events.end() : events.fail(error));
    });
  };
}

const delta = (fields: Fields, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const piece = (index: number, fields: Fields, args: string) =>
  delta({ tool_calls: [{ index, ...fields, function: { ...fields, arguments: args } }] });

test('a stream of text, thinking and alternating calls is built into its message', async () => {
  const sdk = await sdkOf(
    streaming([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'hm' }),
      delta({ content: 'I ' }),
      delta({ content: 'look' }),
      piece(0, { id: 'call_a', name: 'read' }, '{"path":'),
      piece(1, { id: 'call_b', name: 'list' }, ''),
      piece(0, {}, '"a.txt"}'),
      delta({}, 'tool_calls'),
      {
        choices: [],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 4,
          prompt_tokens_details: { cached_tokens: 2 },
        },
      },
    ]),
  );
  const texts: string[] = [];
  const stream = sdk.messages.stream({
    ...REQUEST,
    thinking: { type: 'enabled', budget_tokens: 1024 },
  });
  stream.on('text', (text) => texts.push(text));
  expect(await stream.finalMessage()).toMatchObject({
    id: 'msg_01J',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'I look' },
      { type: 'tool_use', id: 'call_a', name: 'read', input: { path: 'a.txt' } },
      { type: 'tool_use', id: 'call_b', name: 'list', input: {} },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 7, cache_read_input_tokens: 2, output_tokens: 4 },
  });
  expect(texts).toEqual(['I ', 'look']);
});

test('a failed stream is raised as its error', async () => {
  const broken = new ApiError('provider_disconnected', 'The provider left.');
  const sdk = await sdkOf(streaming([delta({ content: 'I' })], broken));
  const failure: unknown = await sdk.messages
    .stream(REQUEST)
    .finalMessage()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(APIError);
  expect(failure).toMatchObject({
    type: 'api_error',
    error: { error: { code: 'provider_disconnected', message: 'The provider left.' } },
  });
});

test.each([
  ['invalid_api_key', AuthenticationError, 'not_authenticated'],
  ['model_not_found', NotFoundError, 'no_provider'],
  ['rate_limit_exceeded', RateLimitError, 'rate_limit_error'],
  ['capacity_exhausted', InternalServerError, 'overloaded_error'],
] as const)('%s is raised with its class and type', async (code, failureClass, type) => {
  const sdk = await sdkOf((_request, response) => {
    const { status, body } = messagesError(new ApiError(code, 'No.'), '01J');
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': '01J' });
    response.end(JSON.stringify(body));
  });
  const failure: unknown = await sdk.messages.create(REQUEST).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(failureClass);
  expect(failure).toMatchObject({ type, requestID: '01J', apiMessage: 'No.' });
});

test('a plain answer and the pages of models are read', async () => {
  const models = Array.from({ length: 25 }, (_, i) => ({
    id: `m${i}`,
    created: 1_700_000_000,
    context_length: null,
  }));
  const sdk = await sdkOf((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const choices = [{ message: { content: 'hello' }, finish_reason: 'stop' }];
    const answer = pathname.startsWith('/v1/models')
      ? modelsPage(models, Object.fromEntries(searchParams))
      : MESSAGES.toAnswer({ choices }, subjectOf({}));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  const { content } = await sdk.messages.create(REQUEST);
  expect(content).toEqual([{ type: 'text', text: 'hello' }]);
  const listed: unknown[] = [];
  for await (const model of sdk.models.list()) listed.push(model);
  expect(listed).toEqual(models.map(modelInfo));
});
