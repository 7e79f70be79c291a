/** Requests of OpenAI's Responses API as requests of chat completions. */
import * as z from 'zod';
import { ApiError } from '../../errors.js';
import { check, listOf, modelName } from '../check.js';
import { refuseMisspelledNames } from '../field-names.js';
import type { TranslatedRequest } from '../translation.js';
import { writeMessages } from './input.js';
import { chooseTool, readTools } from './tools.js';

const NO_CONVERSATIONS =
  'The gateway keeps no conversations. Leave it away, and send the whole input.';

const request = z.looseObject({
  model: modelName,
  // Each item is checked by its type.
  input: z.union([z.string(), z.array(z.unknown())], 'it must be text or an array of items'),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  tools: listOf(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z
    .union([z.string(), z.looseObject({ type: z.string() })], 'it must be text or an object')
    .nullish(),
  text: z
    .looseObject({
      format: z.looseObject({ type: z.string() }).nullish(),
      verbosity: z.string().nullish(),
    })
    .nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  background: z.boolean().nullish(),
});

type ResponseRequest = z.infer<typeof request>;

/**
 * Fields of this API that have another form in chat completions, or none. All others, known or not,
 * pass unchanged.
 */
const OWN_FIELDS = [
  'input',
  'instructions',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'stream_options',
  'background',
  'store',
  'include',
  'client_metadata',
  'service_tier',
  'truncation',
  'safety_identifier',
  'max_tool_calls',
  'previous_response_id',
  'conversation',
  'prompt',
  'top_logprobs',
  'n',
];

/** Characters of instructions and tools, as JSON, that an answer repeats; more are left out. */
const MAX_REPEATED_CHARACTERS = 32 * 1024;

/** Throws an `ApiError`. */
export function toChat(body: unknown): TranslatedRequest {
  refuseMisspelledNames(body);
  const asked = check(request, body);
  refuseState(asked);
  const { tools, names, ignored } = readTools(asked.tools ?? []);
  const { choice, tools: offered } = chooseTool(asked.tool_choice ?? null, { tools, names });
  const passed = Object.entries(asked).filter(([name]) => !OWN_FIELDS.includes(name));
  const chat: Record<string, unknown> = {
    ...Object.fromEntries(passed),
    messages: writeMessages(asked, names),
    ...(asked.max_output_tokens && { max_tokens: asked.max_output_tokens }),
    ...(asked.stream === true && { stream_options: { include_usage: true } }),
    ...(asked.reasoning?.effort && { reasoning_effort: asked.reasoning.effort }),
    ...(asked.text?.verbosity && { verbosity: asked.text.verbosity }),
    ...formatOf(asked.text?.format ?? null),
  };
  if (offered.length > 0) {
    chat['tools'] = offered;
    if (choice !== null) chat['tool_choice'] = choice;
    const parallel = asked.parallel_tool_calls ?? null;
    if (parallel !== null) chat['parallel_tool_calls'] = parallel;
  }
  const context = { repeated: repeatedOf(asked), ...names.kept() };
  return { chat, context, ignoredTools: ignored };
}

/** What the gateway would have to remember, and what no chat can give. */
function refuseState(asked: ResponseRequest): void {
  for (const param of ['previous_response_id', 'conversation']) {
    if ((asked[param] ?? null) === null) continue;
    throw new ApiError('unsupported_value', `'${param}' is sent. ${NO_CONVERSATIONS}`, { param });
  }
  if ((asked['prompt'] ?? null) !== null) {
    const message = "'prompt' names a template, and the gateway keeps none. Send it as 'input'.";
    throw new ApiError('unsupported_value', message, { param: 'prompt' });
  }
  if (asked['top_logprobs']) {
    const message = "'top_logprobs' is not translated. Leave it away, or use /chat/completions.";
    throw new ApiError('unsupported_value', message, { param: 'top_logprobs' });
  }
}

type Format = NonNullable<NonNullable<ResponseRequest['text']>['format']>;

function formatOf(format: Format | null): { response_format?: object } {
  if (format === null || format.type === 'text') return {};
  const { type, ...schema } = format;
  if (type === 'json_object') return { response_format: { type } };
  if (type === 'json_schema') return { response_format: { type, json_schema: schema } };
  const message =
    `'text.format.type' is ${JSON.stringify(type.slice(0, 80))}: it must be text, json_object ` +
    'or json_schema.';
  throw new ApiError('invalid_value', message, { param: 'text.format.type' });
}

/** The fields of the request that its answer repeats. */
function repeatedOf(asked: ResponseRequest): Record<string, unknown> {
  const { instructions = null, tools = null } = asked;
  const long = { instructions, tools: tools ?? [] };
  const isShort = JSON.stringify(long).length <= MAX_REPEATED_CHARACTERS;
  return {
    ...(isShort && long),
    background: asked.background === true,
    max_output_tokens: asked.max_output_tokens ?? null,
    metadata: asked['metadata'] ?? {},
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    reasoning: { effort: asked.reasoning?.effort ?? null, summary: null },
    temperature: asked.temperature ?? null,
    text: { format: { type: 'text' }, ...asked.text },
    tool_choice: asked.tool_choice ?? 'auto',
    top_p: asked.top_p ?? null,
    user: asked['user'] ?? null,
  };
}
