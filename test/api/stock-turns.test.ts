/** Whole turns of a stock program: the model calls a tool, gets its result, and answers. */
import {
  Agent,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool as agentTool,
} from '@openai/agents';
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chunks, errorEvent } from '../support/fake-behaviours.js';
import { sendJson } from '../support/fake-model-server.js';
import type { Behaviour, FakeModelServer, FakeRequest } from '../support/fake-model-server.js';
import { startFakeOllama, startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { chat } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

interface City {
  readonly city: string;
}

const CITIES: readonly City[] = [{ city: 'Bern' }, { city: 'Zürich' }];
const forecast = ({ city }: City): string => `sunny in ${city}`;
const ANSWER = 'It is sunny in Bern and sunny in Zürich.';
/** The usage of each request. */
const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

const PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
};
const TOOL = { type: 'function', function: { name: 'weather', parameters: PARAMETERS } } as const;

/** How a server writes tool calls: whole, and in the pieces of a stream. */
interface Dialect {
  readonly whole: (args: City, index: number) => object;
  readonly pieces: (args: City, index: number) => object[];
  readonly ending: string;
}

const TIDY: Dialect = {
  whole: (args, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: 'weather', arguments: JSON.stringify(args) },
  }),
  pieces: (args, index) => {
    const text = JSON.stringify(args);
    const first = { id: `call_${index}`, type: 'function' };
    return [
      { index, ...first, function: { name: 'weather', arguments: '' } },
      { index, function: { arguments: text.slice(0, 5) } },
      { index, function: { arguments: text.slice(5) } },
    ];
  },
  ending: 'tool_calls',
};

/** Without index, id and type, and with objects as arguments. */
const LOOSE: Dialect = {
  whole: (args) => ({ function: { name: 'weather', arguments: args } }),
  pieces: (args) => [{ function: { name: 'weather', arguments: args } }],
  ending: 'stop',
};

/** Calls the tool for each city; once it has the results, answers with the weather. */
function weatherServer(dialect: Dialect, streams?: boolean): Behaviour {
  return (request, response) => {
    const results = resultsIn(request);
    const text = `It is ${results.join(' and ')}.`;
    const isOver = results.length > 0;
    const ending = isOver ? 'stop' : dialect.ending;
    if (!(streams ?? request.body['stream'] === true)) {
      const calls = { content: null, tool_calls: CITIES.map(dialect.whole) };
      const message = { role: 'assistant', ...(isOver ? { content: text } : calls) };
      const choices = [{ index: 0, message, finish_reason: ending }];
      return sendJson(response, 200, { choices, usage: USAGE });
    }
    const calls = CITIES.flatMap(dialect.pieces).map((piece) => ({ tool_calls: [piece] }));
    const words = text.split(/(?<= )/).map((content) => ({ content }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (chunk: object) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    for (const delta of [{ role: 'assistant', content: null }, ...(isOver ? words : calls)]) {
      send({ choices: [{ index: 0, delta, finish_reason: null }] });
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: ending }] });
    send({ choices: [], usage: USAGE });
    response.end('data: [DONE]\n\n');
  };
}

function resultsIn({ body }: FakeRequest): string[] {
  const messages = body['messages'] as { role: string; content: string }[];
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

let gateway: TestGateway;
let openai: FakeModelServer;
/** The agent sends its plain calls as streams and joins the chunks. */
let ollama: FakeModelServer;

beforeAll(async () => {
  // It would send what it does to OpenAI.
  setTracingDisabled(true);
  gateway = await openGateway();
  openai = await startFakeOpenAi({ models: ['m-openai'] });
  ollama = await startFakeOllama({ models: ['m-ollama'] });
  await gateway.startAgent({
    services: [{ baseUrl: openai.baseUrl }, { baseUrl: ollama.baseUrl, backend: 'ollama' }],
  });
  return async () => {
    await gateway.stop();
    await openai.close();
    await ollama.close();
  };
});

type Api = 'chat' | 'responses';
/** The second is its default. */
const VERCEL_APIS: readonly Api[] = ['chat', 'responses'];

const vercel = (model: string, api: Api = 'chat') =>
  createOpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.anna.key })[api](model);

const vercelTurn = (model: string, api: Api) => ({
  model: vercel(model, api),
  prompt: 'And the weather?',
  tools: { weather: tool({ inputSchema: jsonSchema<City>(PARAMETERS), execute: forecast }) },
  stopWhen: stepCountIs(3),
  maxRetries: 0,
  // Else it refers to the items of the turn, as if the gateway kept them.
  ...(api === 'responses' && { providerOptions: { openai: { store: false } } }),
});

const langChain = (model: string) =>
  new ChatOpenAI({
    model,
    apiKey: gateway.anna.key,
    configuration: { baseURL: gateway.baseUrl },
    maxRetries: 0,
  });

const bound = (model: string) => langChain(model).bindTools([TOOL]);

const invoke = (model: string, messages: BaseMessage[]) => bound(model).invoke(messages);

async function stream(model: string, messages: BaseMessage[]): Promise<AIMessageChunk> {
  const pieces: AIMessageChunk[] = [];
  for await (const piece of await bound(model).stream(messages)) pieces.push(piece);
  return pieces.reduce((all, piece) => all.concat(piece));
}

describe.each<[string, string, Behaviour]>([
  ['a server of OpenAI’s form', 'm-openai', weatherServer(TIDY)],
  ['a loose server', 'm-openai', weatherServer(LOOSE)],
  ['a server that never streams', 'm-openai', weatherServer(LOOSE, false)],
  ['a server that always streams', 'm-openai', weatherServer(LOOSE, true)],
  ['Ollama', 'm-ollama', weatherServer(TIDY)],
])('a turn with tools before %s', (_, model, behaviour) => {
  beforeAll(() => {
    openai.behave(behaviour);
    ollama.behave(behaviour);
  });

  describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
    it.each([false, true])('runTools, stream: %s', async (streamed) => {
      const asked: unknown[] = [];
      const { completions } = connect(Sdk, gateway).chat;
      const request = { ...chat({ model }), tools: [weatherOf(asked)] };
      const runner = streamed
        ? completions.runTools({ ...request, stream: true })
        : completions.runTools(request);
      expect(await runner.finalContent()).toBe(ANSWER);
      expect(asked).toEqual(CITIES);
      if (!streamed) expect((await runner.totalUsage()).total_tokens).toBe(2 * USAGE.total_tokens);
    });
  });

  describe.each(VERCEL_APIS)('the Vercel AI SDK, by %s', (api) => {
    const told = { inputTokens: 40, outputTokens: 10 };

    it('streamText', async () => {
      const { text, steps, totalUsage } = streamText(vercelTurn(model, api));
      expect(await text).toBe(ANSWER);
      const [first] = await steps;
      expect(first?.toolCalls.map(({ input }) => input)).toEqual(CITIES);
      expect(first?.finishReason).toBe('tool-calls');
      expect(await totalUsage).toMatchObject(told);
    });

    it('generateText in its default form, one request', async () => {
      const result = await generateText({ model: vercel(model, api), prompt: 'x', maxRetries: 0 });
      expect(result.toolCalls.map(({ input }) => input)).toEqual(CITIES);
    });

    it('generateText', async () => {
      const { text, steps, totalUsage } = await generateText(vercelTurn(model, api));
      expect(text).toBe(ANSWER);
      expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual(CITIES);
      expect(steps[0]?.finishReason).toBe('tool-calls');
      expect(totalUsage).toMatchObject(told);
    });
  });

  describe('OpenAI’s Agents SDK, by responses', () => {
    it('run', async () => {
      const asked: unknown[] = [];
      const { finalOutput } = await run(agentOf(model, asked), 'And the weather?');
      expect(finalOutput).toBe(ANSWER);
      expect(asked).toEqual(CITIES);
    });

    it('run, streamed', async () => {
      const asked: unknown[] = [];
      const running = await run(agentOf(model, asked), 'And the weather?', { stream: true });
      await running.completed;
      expect(running.finalOutput).toBe(ANSWER);
      expect(asked).toEqual(CITIES);
    });
  });

  describe('LangChain', () => {
    it.each([
      ['invoke', invoke],
      ['stream', stream],
    ])('bindTools and %s', async (_way, ask) => {
      const question = new HumanMessage('And the weather?');
      const calling = await ask(model, [question]);
      expect(calling.response_metadata['finish_reason']).toBe('tool_calls');
      const calls = calling.tool_calls ?? [];
      expect(calls.map(({ args }) => args)).toEqual(CITIES);
      const results = calls.map(({ id = '', args }) => new ToolMessage(forecast(args as City), id));
      const last = await ask(model, [question, calling, ...results]);
      expect(last.content).toBe(ANSWER);
      expect(last.usage_metadata).toMatchObject({ input_tokens: 20, output_tokens: 5 });
    });
  });
});

describe('an error inside a stream is raised by', () => {
  const failing = errorEvent('the card is out of memory');

  it('the Vercel AI SDK', async () => {
    openai.once(failing);
    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void errors.push(error);
    const run = streamText({ model: vercel('m-openai'), prompt: 'x', maxRetries: 0, onError });
    await run.consumeStream();
    const message = expect.stringContaining('out of memory') as string;
    expect(errors).toMatchObject([{ message, code: 'provider_error' }]);
  });

  it('LangChain', async () => {
    ollama.once(failing);
    await expect(stream('m-ollama', [new HumanMessage('x')])).rejects.toThrow('out of memory');
  });
});

describe('the GPU stops where a program leaves:', () => {
  beforeEach(() => openai.once(chunks({ count: 1_000, delayMs: 10 })));

  it.each<[string, (model: string) => Promise<void>]>([
    [
      'the Vercel AI SDK, by its abortSignal',
      async (model) => {
        const leaving = new AbortController();
        const { signal: abortSignal } = leaving;
        const run = streamText({ model: vercel(model), prompt: 'x', maxRetries: 0, abortSignal });
        for await (const _text of run.textStream) leaving.abort();
      },
    ],
    [
      'LangChain, out of its loop',
      async (model) => {
        for await (const _piece of await langChain(model).stream('x')) break;
      },
    ],
  ])('%s', async (_, leave) => {
    const before = openai.aborts.length;
    await leave('m-openai');
    await until(() => openai.aborts.length > before, { what: 'the model server to be left' });
  });
});

/** The tool; it records its arguments. */
function weatherOf(asked: unknown[]): RunnableToolFunctionWithParse<City> {
  return {
    type: 'function',
    function: {
      name: 'weather',
      description: 'Tells the weather.',
      parameters: PARAMETERS,
      parse: (text: string) => JSON.parse(text) as City,
      function: (city: City) => {
        asked.push(city);
        return forecast(city);
      },
    },
  };
}

/** It records the arguments of its tool. */
function agentOf(model: string, asked: unknown[]) {
  const { key: apiKey } = gateway.anna;
  const client = connect(OpenAI, gateway, { apiKey });
  const execute = (city: City): string => {
    asked.push(city);
    return forecast(city);
  };
  const parameters = { ...PARAMETERS, required: ['city'], additionalProperties: false };
  return new Agent({
    name: 'Weather',
    instructions: 'Tell the weather.',
    model: new OpenAIResponsesModel(client as never, model),
    tools: [agentTool({ name: 'weather', description: 'Tells it.', parameters, execute } as never)],
  });
}
