/**
 * Requests of Anthropic's Messages API as chat completions. Fields that are not read here stay
 * here: that API's own (`cache_control`, `context_management`, `output_config`, `service_tier` and
 * whatever follows them) mean nothing to local servers, of which some refuse what they don't know.
 */
import * as z from 'zod';
import type { ApiError } from '../../errors.js';
import { check, checkAt, listOf, modelName, unsupported } from '../check.js';
import type { Path } from '../check.js';
import { refuseMisspelledNames } from '../field-names.js';
import { isFields } from '../tokens.js';
import type { TranslatedRequest } from '../translation.js';
import { assistantTurn, systemTurn, textOfSystem, turnsOf, userTurn } from './conversation.js';
import type { ChatMessage, Turn } from './conversation.js';

const TEXT_OR_BLOCKS = 'it must be text or a list of blocks';

const fields = {
  model: modelName,
  messages: z.array(z.unknown()).min(1),
  system: z.union([z.string(), z.array(z.unknown())], TEXT_OR_BLOCKS).nullish(),
  stop_sequences: listOf(z.string().min(1)).nullish(),
  top_k: z.int().min(0).nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  thinking: z.looseObject({ type: z.string(), display: z.string().nullish() }).nullish(),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.unknown().optional(),
};

const countedRequest = z.looseObject(fields);
const request = z.looseObject({ ...fields, max_tokens: z.int().min(1) });

type Request = z.output<typeof countedRequest>;

/** Throws an `ApiError` whose `param` is the path in the body as it was sent. */
export function toChat(body: unknown): TranslatedRequest {
  refuseMisspelledNames(body);
  return translate(check(request, body));
}

/** The chat request whose tokens are to be counted: `max_tokens` may be absent. */
export function toCountedChat(body: unknown): Record<string, unknown> {
  refuseMisspelledNames(body);
  return translate(check(countedRequest, body)).chat;
}

/**
 * Fields with the same name and meaning in chat completions, which checks them, and the gateway's
 * own. The order is that of the chat request.
 */
const SAME = ['max_tokens', 'temperature', 'top_p', 'top_k', 'stream', 'async', 'webhook'];

function translate(sent: Request): TranslatedRequest {
  const { ignoredTools, ...tools } = translateTools(sent);
  const chat: Record<string, unknown> = { model: sent.model, messages: conversation(sent) };
  for (const name of SAME) if ((sent[name] ?? null) !== null) chat[name] = sent[name];
  // Its counts are in the last events of a stream.
  if (sent['stream'] === true) chat['stream_options'] = { include_usage: true };
  const stops = sent.stop_sequences ?? [];
  if (stops.length > 0) chat['stop'] = stops;
  // Prompt-cache affinity follows it.
  const userId = sent.metadata?.user_id ?? null;
  if (userId !== null) chat['metadata'] = { user_id: userId };
  Object.assign(chat, tools);
  return { chat, context: { thinking: showsThinking(sent), stop_sequences: stops }, ignoredTools };
}

/**
 * Whether the answer shows the model's reasoning. The budget is not passed on: local servers have
 * no such limit, and their levels of effort are named differently by each model.
 */
function showsThinking({ thinking }: Request): boolean {
  const type = thinking?.type ?? 'disabled';
  return type !== 'disabled' && thinking?.display !== 'omitted';
}

function conversation({ system, messages }: Request): readonly ChatMessage[] {
  const turns = turnsOf(messages);
  // Many models accept one system message only, at the beginning.
  const texts = textOfSystem(system ?? []);
  const [first] = turns;
  if (first?.role === 'system') {
    turns.shift();
    for (const text of systemTurn(first)) texts.push(text);
  }
  const chat: ChatMessage[] = [];
  if (texts.length > 0) chat.push({ role: 'system', content: texts.join('\n\n') });
  for (const turn of turns) for (const message of messagesOf(turn)) chat.push(message);
  // A conversation of system messages alone.
  if (turns.length === 0 && texts.length === 0) chat.push({ role: 'user', content: '' });
  return chat;
}

function messagesOf(turn: Turn): readonly ChatMessage[] {
  switch (turn.role) {
    case 'assistant':
      return [assistantTurn(turn)];
    case 'system':
      return [{ role: 'system', content: systemTurn(turn).join('\n\n') }];
    default:
      return userTurn(turn);
  }
}

// Tools. Only those of type `custom` have a schema; all others run at that API's provider, or have
// a schema that only its models know.

const customTool = z.looseObject({
  name: z.string().min(1).max(256),
  description: z.string().nullish(),
  input_schema: z.custom<object>(isFields, 'it must be a JSON schema, an object'),
  strict: z.boolean().nullish(),
});
const anyTool = z.looseObject({ type: z.string().nullish(), name: z.unknown().optional() });

interface ChatTools {
  readonly ignoredTools: readonly string[];
  readonly tools?: readonly object[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: false;
}

function translateTools({ tools, tool_choice: choice }: Request): ChatTools {
  const functions = new Map<string, object>();
  const ignored: string[] = [];
  for (const [index, value] of (tools ?? []).entries()) {
    const path = ['tools', index];
    const { type, name: given } = checkAt(anyTool, value, path);
    if ((type ?? 'custom') !== 'custom') {
      ignored.push(typeof given === 'string' && given !== '' ? given : String(type));
      continue;
    }
    const {
      name,
      description,
      input_schema: parameters,
      strict,
    } = checkAt(customTool, value, path);
    functions.set(name, {
      type: 'function',
      function: {
        name,
        ...((description ?? null) !== null && { description }),
        parameters,
        ...(strict === true && { strict }),
      },
    });
  }
  const chosen = translateChoice(choice, { names: functions, ignored });
  // A server refuses a choice without tools.
  if (functions.size === 0) return { ignoredTools: ignored };
  return { ignoredTools: ignored, tools: [...functions.values()], ...chosen };
}

const toolChoice = z.looseObject({
  type: z.string(),
  name: z.unknown().optional(),
  disable_parallel_tool_use: z.boolean().nullish(),
});

interface Offered {
  readonly names: ReadonlyMap<string, unknown>;
  readonly ignored: readonly string[];
}

function translateChoice(value: unknown, offered: Offered): Omit<ChatTools, 'ignoredTools'> {
  if ((value ?? null) === null) return {};
  const path: Path = ['tool_choice'];
  const choice = checkAt(toolChoice, value, path);
  const isSingle = choice.disable_parallel_tool_use === true;
  const parallel: Pick<ChatTools, 'parallel_tool_calls'> = isSingle
    ? { parallel_tool_calls: false }
    : {};
  switch (choice.type) {
    case 'auto':
      return { tool_choice: 'auto', ...parallel };
    case 'none':
      return { tool_choice: 'none' };
    case 'any':
      if (offered.names.size === 0) throw noneOffered(choice.type, offered);
      return { tool_choice: 'required', ...parallel };
    case 'tool': {
      const name = checkAt(z.string().min(1), choice.name, [...path, 'name']);
      if (!offered.names.has(name)) throw notOffered(name, offered);
      return { tool_choice: { type: 'function', function: { name } }, ...parallel };
    }
    default:
      throw unsupported(choice.type, [...path, 'type'], 'it must be auto, any, tool or none');
  }
}

function noneOffered(type: string, { ignored }: Offered): ApiError {
  const rule =
    ignored.length > 0
      ? 'the gateway runs none of these tools; send tools of type custom'
      : "there are no tools to choose from; send 'tools'";
  return unsupported(type, ['tool_choice', 'type'], rule);
}

function notOffered(name: string, { ignored }: Offered): ApiError {
  const rule = ignored.includes(name)
    ? 'the gateway does not run this tool; choose one of type custom'
    : "it must be the name of one of the 'tools'";
  return unsupported(name, ['tool_choice', 'name'], rule);
}
