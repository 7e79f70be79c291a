/** Requests and answers of the APIs that are translated to chat completions. */
import * as z from 'zod';
import { webhook } from './job-resources.js';

const asynchronous = z.boolean().nullish().meta({ description: 'Queues the call as a job.' });
const hook = { async: asynchronous, webhook: webhook.nullish() };
const tools = z.array(z.looseObject({ type: z.string().optional() })).nullish();

export const responseRequest = z.looseObject({
  model: z.string().min(1).max(256),
  input: z.union([z.string(), z.array(z.looseObject({ type: z.string().optional() }))]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools,
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.looseObject({}).nullish(),
  reasoning: z.looseObject({}).nullish(),
  background: z
    .boolean()
    .nullish()
    .meta({ description: 'Queues the call; its response is fetched by its id.' }),
  ...hook,
});

export const response = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  usage: z
    .looseObject({
      input_tokens: z.int().min(0),
      output_tokens: z.int().min(0),
      total_tokens: z.int().min(0),
    })
    .nullable(),
});

/** Of a stream: the JSON of one event. */
export const responseEvent = z.looseObject({ type: z.string(), sequence_number: z.int() });

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const prompt = {
  model: z.string().min(1).max(256),
  messages: z.array(z.looseObject({ role: z.string(), content })),
  system: content.nullish(),
  tools,
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
};

export const messagesRequest = z.looseObject({
  ...prompt,
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.looseObject({}).nullish(),
  ...hook,
});

export const message = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullable(),
  usage: z.looseObject({ input_tokens: z.int().min(0), output_tokens: z.int().min(0) }),
});

/** Of a stream: the JSON of one event. */
export const messageEvent = z.looseObject({ type: z.string() });

export const tokenCountRequest = z.looseObject(prompt);

export const tokenCount = z.looseObject({
  input_tokens: z.int().min(0),
  estimated: z
    .literal(true)
    .optional()
    .meta({ description: 'Absent if the model server counted them.' }),
});

export const messagesError = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({ type: z.string(), message: z.string() }),
  request_id: z.string(),
});
